# scalar.rl: a damped pendulum by semi-implicit Euler in scalars, 10,000 steps (or as the second argument
# says), 7 operations a step: gradient of the last angle squared.
import "./measure.rl" as m

steps = m.number(1, 10_000)

fn loss(p) {
  (th, om, c) = p
  for (t in 0..steps) {
    om = om - (sin(th) + c * om) * 1e-3
    th = th + om * 1e-3
  }
  th * th
}
m.gradient("scalar", loss, (f64(1.0), f64(0.0), f64(0.01)))
