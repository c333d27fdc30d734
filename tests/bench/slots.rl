# slots.rl: scalar.rl's pendulum, as many steps as the second argument says, under 20 slots.
import "./measure.rl" as m

steps = m.number(1, 10_000)

fn loss(p) {
  (th, om, c) = p
  checkpoint (slots = 20) < for (t in 0..steps) {
    om = om - (sin(th) + c * om) * 1e-3
    th = th + om * 1e-3
  } >
  th * th
}
m.gradient("slots", loss, (f64(1.0), f64(0.0), f64(0.01)))
