# nbody.rl: 256 bodies under softened gravity, 200 leapfrog steps, pairwise arrays. Run with --float f32.
import "./measure.rl" as m

n = 256
q0 = m.noise(1, (n, 3))
v0 = m.noise(2, (n, 3)) * 0.1
mass = ones(n) / n
dt = 0.01

fn accel(q) {
  d = q[none, :, :] - q[:, none, :]
  r2 = sum(d * d, axis = -1) + 0.01
  sum(d * (mass * r2 ^ -1.5)[:, :, none], axis = 1)
}
fn loss(q) {
  v = v0
  a = accel(q)
  for (t in 0..200) {
    v = v + a * (0.5 * dt)
    q = q + v * dt
    a = accel(q)
    v = v + a * (0.5 * dt)
  }
  sum(q * q)
}
m.gradient("nbody", loss, q0)
