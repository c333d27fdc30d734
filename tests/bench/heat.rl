# heat.rl: 10,000 explicit Euler steps of the heat equation on 1000 points, by slices, f64.
import "./measure.rl" as m

n = 1000
u0 = sin(3 * linspace(0, 1, n)) + linspace(0, 1, n)

fn loss(u) {
  for (t in 0..10_000) { u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2]) }
  sum(u * u)
}
m.gradient("heat", loss, u0)
