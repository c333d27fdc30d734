# ode.rl: ordinary differential equations dy/dt = f(t, y), and gradients through their solutions.
#
# y is an array, or a record or tuple of arrays. ts are the times at which the solution is wanted, the
# first of them the start. The solvers give the solution at each of ts along a new first axis (a record of
# such for a record), with `steps` equal steps from one time to the next.
#
# Each step is a checkpoint block: a gradient keeps one state per step, not the stages inside. To keep
# fewer, write the loop yourself under slots:
#
#     checkpoint (slots = 8) < for (i in 0..n) { y = ode.rk4_step(f, i * h, y, h) } >

# euler_step(f, t, y, h): from t to t + h along the slope at the start; first order. What a step gives is like y.
#   ode.euler_step(fn(t, y) = y, 0, 1, 0.5)  # 1.5
#   ode.euler_step(fn(t, y) = 2 * t, 1, [5, 6], 0.5)  # [6, 7]
fn euler_step(f, t, y, h) = y + h * f(t, y)

# midpoint_step(f, t, y, h): along the slope half-way; second order.
#   ode.midpoint_step(fn(t, y) = y, 0, 1, 0.5)  # 1.625
#   ode.midpoint_step(fn(t, y) = 2 * t, 0, 0, 3)  # 9
fn midpoint_step(f, t, y, h) = y + h * f(t + h / 2, y + h / 2 * f(t, y))

# rk4_step(f, t, y, h): along a mean of four slopes (Runge and Kutta, 1901); fourth order.
#   ode.rk4_step(fn(t, y) = 4 * t ^ 3, 0, 0, 2)  # 16
#   round(ode.rk4_step(fn(t, y) = y, 0, 1, 0.5) * 10000) / 10000  # 1.6484
fn rk4_step(f, t, y, h) {
  a = f(t, y)
  b = f(t + h / 2, y + h / 2 * a)
  c = f(t + h / 2, y + h / 2 * b)
  d = f(t + h, y + h * c)
  y + h / 6 * (a + 2 * b + 2 * c + d)
}

# solve(step, f, y, ts): the solution at each of ts by any of the steps above: [times, ...] for y: [...].
#   ode.solve(ode.euler_step, fn(t, y) = y, 1.0, [0, 1, 2])  # [1, 2, 4]
#   ode.solve(ode.euler_step, fn(t, y) = y, 1.0, [0, 1], steps = 2)  # [1, 2.25]
fn solve(step, f, y, ts, steps = 1) {
  ys = (y,)
  for (i in 1..len(ts)) {
    h = (ts[i] - ts[i - 1]) / steps
    for (k in 0..steps) {
      checkpoint < y = step(f, ts[i - 1] + k * h, y, h) >
    }
    ys = append(ys, y)
  }
  _stacked(ys)
}

# A tuple of states as one state of arrays with a new first axis.
fn _stacked(ys) = tree_map(fn(parts...) = stack(parts), ys...)

# euler(f, y, ts): the solution at each of ts: [times, ...] for y: [...]; first order.
#   ode.euler(fn(t, y) = y, 1.0, [0, 1, 2])  # [1, 2, 4]
#   grad(fn(y) = ode.euler(fn(t, y) = y, y, [0, 1, 2])[-1])(1)  # 4
fn euler(f, y, ts, steps = 1) = solve(euler_step, f, y, ts, steps)

# midpoint(f, y, ts): the solution at each of ts: [times, ...] for y: [...]; second order.
#   ode.midpoint(fn(t, y) = 2 * t, 0.0, [0, 1, 2])  # [0, 1, 4]
#   shape(ode.midpoint(fn(t, y) = -y, ones(3), linspace(0, 1, 5)))  # (5, 3)
fn midpoint(f, y, ts, steps = 1) = solve(midpoint_step, f, y, ts, steps)

# rk4(f, y, ts): the solution at each of ts: [times, ...] for y: [...]; fourth order.
#   ode.rk4(fn(t, y) = 4 * t ^ 3, 0.0, [0, 1, 2])  # [0, 1, 16]
#   abs(ode.rk4(fn(t, y) = y, 1.0, [0, 1], steps = 100)[-1] - exp(1)) < 1e-9  # true
fn rk4(f, y, ts, steps = 1) = solve(rk4_step, f, y, ts, steps)

# leapfrog(force, q, v, ts): dq/dt = v, dv/dt = force(q), half a kick, a drift, half a kick; it keeps the
# energy of an orbit over long times. Gives (qs, vs), each [times, ...].
#   ode.leapfrog(fn(q) = 0 * q, 0.0, 2.0, [0, 1, 2])  # ([0, 2, 4], [2, 2, 2])
#   ode.leapfrog(fn(q) = -1, 0.0, 0.0, [0, 2])  # ([0, -2], [0, -2])
fn leapfrog(force, q, v, ts, steps = 1) {
  step = fn(f, t, s, h) {
    v = s.v + h / 2 * force(s.q)
    q = s.q + h * v
    {q: q, v: v + h / 2 * force(q)}
  }
  s = solve(step, none, {q: q, v: v}, ts, steps)
  (s.q, s.v)
}

# dopri5(f, y, ts): the solution at each of ts, [times, ...]; fifth order, with steps as long as the error
# allows, estimated by a fourth-order solution from the same slopes (Dormand and Prince, 1980). The gradient
# is that of the steps taken.
#   abs(ode.dopri5(fn(t, y) = y, 1.0, [0, 1])[-1] - exp(1)) < 1e-5  # true
#   shape(ode.dopri5(fn(t, y) = -y, ones(3), linspace(0, 1, 5)))  # (5, 3)
fn dopri5(f, y, ts, rtol = 1e-6, atol = 1e-9, most = 100000) {
  ys = (y,)
  h = (ts[1] - ts[0]) / 10
  taken = 0
  for (i in 1..len(ts)) {
    t = ts[i - 1]
    while (t != ts[i]) {
      assert(taken < most, format("dopri5: more than {} steps; the equation is stiff or its tolerance too small", most))
      last = abs(h) >= abs(ts[i] - t)
      step = if (last) { ts[i] - t } else { h }
      checkpoint < (next, error) = _dopri5_step(f, t, y, step, rtol, atol) >
      if (error <= 1) {
        t = if (last) { ts[i] } else { t + step }
        y = next
      }
      grow = clamp(0.9 * maximum(error, 1e-10) ^ -0.2, 0.2, 5)
      if (not last or grow < 1) { h = step * grow }
      taken += 1
    }
    ys = append(ys, y)
  }
  _stacked(ys)
}

# (y at t + h, its error in units of what is allowed).
fn _dopri5_step(f, t, y, h, rtol, atol) {
  k1 = f(t, y)
  k2 = f(t + h / 5, y + h * (1 / 5 * k1))
  k3 = f(t + 3 * h / 10, y + h * (3 / 40 * k1 + 9 / 40 * k2))
  k4 = f(t + 4 * h / 5, y + h * (44 / 45 * k1 - 56 / 15 * k2 + 32 / 9 * k3))
  k5 = f(t + 8 * h / 9, y + h * (19372 / 6561 * k1 - 25360 / 2187 * k2 + 64448 / 6561 * k3 - 212 / 729 * k4))
  k6 = f(t + h, y + h * (9017 / 3168 * k1 - 355 / 33 * k2 + 46732 / 5247 * k3 + 49 / 176 * k4 - 5103 / 18656 * k5))
  next = y + h * (35 / 384 * k1 + 500 / 1113 * k3 + 125 / 192 * k4 - 2187 / 6784 * k5 + 11 / 84 * k6)
  k7 = f(t + h, next)
  off = h * (71 / 57600 * k1 - 71 / 16695 * k3 + 71 / 1920 * k4 - 17253 / 339200 * k5 + 22 / 525 * k6 - 1 / 40 * k7)
  allowed = atol + rtol * maximum(abs(y), abs(next))
  ratio = stop_grad(flatten(off / allowed))
  (next, sqrt(mean(ratio * ratio)))
}
