# optim.rl: optimisers over any structure of arrays, schedules of their step size, and clipping.
#
#     opt = optim.adam(lr = 1e-3)
#     s = opt.init(p)
#     (p, s) = opt.step(p, g, s)      # g = grad(loss)(p)
#
# An optimiser is a record of two functions. p is an array, or records and tuples of arrays to any
# depth. lr is a number, or a function of the number of steps taken. A part of p without a gradient (its
# part of g is none: whole numbers, strings) is left alone, and no part ever changes its dtype.

# f(p, more...) for each part of p; where more's first, the gradient, is none, p as it is.
fn _each(f, p, more...) = tree_map(fn(p, more...) = _part(f, p, more), p, more...)
fn _part(f, p, more) = if (type(more[0]) == "none") { p } else { _as(f(p, more...), p) }

# v, computed perhaps more widely, in the dtype of p.
fn _as(v, p) = if (dtype(p) == "f32") { f32(v) } else { v }

fn _at(lr, step) = if (type(lr) == "function") { lr(step) } else { lr }

# --- optimisers -----------------------------------------------------------------------------------

# sgd(lr): down the gradient. momentum: how much of the last move is made again; nesterov looks ahead;
# decay pulls every weight towards 0.
#   optim.sgd(lr = 0.1).step([1, 2], [10, -10], optim.sgd().init([1, 2]))[0]  # [0, 3]
#   optim.minimize(fn(p) = (p - 3) ^ 2, 0.0, optim.sgd(lr = 0.5), steps = 1)  # 3
fn sgd(lr = 0.01, momentum = 0, nesterov = false, decay = 0) {
  init = fn(p) = {step: 0, move: zeros_like(p)}
  step = fn(p, g, s) {
    rate = _at(lr, s.step)
    g = _each(fn(g, again, p) = g + decay * p, g, g, p)
    move = _each(fn(m, g) = momentum * m + g, s.move, g)
    ahead = if (nesterov) { _each(fn(m, g) = momentum * m + g, move, g) } else { move }
    p = _each(fn(p, g, m) = p - rate * m, p, g, ahead)
    (p, {step: s.step + 1, move: move})
  }
  {init: init, step: step}
}

# adam(lr): each element by its mean gradient over its root mean square gradient, both fading averages
# made whole for their short start (Kingma and Ba, 2015).
#   optim.adam(lr = 0.1, eps = 0).step([1, 2], [5, -7], optim.adam().init([1, 2]))[0]  # [0.9, 2.1]
#   keys(optim.adam().init(1.0))  # ("step", "m", "v")
fn adam(lr = 1e-3, b1 = 0.9, b2 = 0.999, eps = 1e-8) = adamw(lr, b1, b2, eps, decay = 0)

# adamw(lr): adam, with weights that decay by themselves (Loshchilov and Hutter, 2019).
#   optim.adamw(lr = 0.5, eps = 0, decay = 1).step([8.0], [3.0], optim.adamw().init([8.0]))[0]  # [3.5]
#   keys(optim.adamw())  # ("init", "step")
fn adamw(lr = 1e-3, b1 = 0.9, b2 = 0.999, eps = 1e-8, decay = 0.01) {
  init = fn(p) = {step: 0, m: zeros_like(p), v: zeros_like(p)}
  step = fn(p, g, s) {
    t = s.step + 1
    rate = _at(lr, s.step)
    m = _each(fn(m, g) = b1 * m + (1 - b1) * g, s.m, g)
    v = _each(fn(v, g) = b2 * v + (1 - b2) * g * g, s.v, g)
    p = _each(fn(p, g, m, v) {
      move = (m / (1 - b1 ^ t)) / (sqrt(v / (1 - b2 ^ t)) + eps)
      p - rate * (move + decay * p)
    }, p, g, m, v)
    (p, {step: t, m: m, v: v})
  }
  {init: init, step: step}
}

# rmsprop(lr): each element by its gradient over its root mean square gradient (Hinton, 2012).
#   optim.rmsprop(lr = 1, fade = 0.75, eps = 0).step([8.0], [3.0], optim.rmsprop().init([8.0]))[0]  # [6]
#   keys(optim.rmsprop().init(1.0))  # ("step", "v")
fn rmsprop(lr = 1e-3, fade = 0.9, eps = 1e-8) {
  init = fn(p) = {step: 0, v: zeros_like(p)}
  step = fn(p, g, s) {
    rate = _at(lr, s.step)
    v = _each(fn(v, g) = fade * v + (1 - fade) * g * g, s.v, g)
    p = _each(fn(p, g, v) = p - rate * g / (sqrt(v) + eps), p, g, v)
    (p, {step: s.step + 1, v: v})
  }
  {init: init, step: step}
}

# minimize(f, p, opt): p after `steps` steps of an optimiser down f, which takes p to a number.
#   optim.minimize(fn(p) = sum((p - 3) ^ 2), [5, 4], optim.sgd(lr = 0.5), steps = 1)  # [3, 3]
#   optim.minimize(fn(p) = (p.a - 3) ^ 2, {a: 4.0}, optim.sgd(lr = 0.25), steps = 2)  # {a: 3.25}
fn minimize(f, p, opt, steps = 100) {
  s = opt.init(p)
  slope = grad(f)
  for (i in 0..steps) { (p, s) = opt.step(p, slope(p), s) }
  p
}

# lbfgs(f, p): minimises f from p by L-BFGS (Liu and Nocedal, 1989): Newton's method with an inverse
# Hessian pieced together from the last `memory` moves. Stops when the gradient's norm is below tol. Gives
# {p, value, slope: norm of the gradient, steps, converged}.
#   optim.lbfgs(fn(p) = sum((p - [1, 2]) ^ 2), [0, 0]).p  # [1, 2]
#   optim.lbfgs(fn(p) = (p.a - 1) ^ 4 + p.b ^ 2, {a: 0.0, b: 5.0}).converged  # true
fn lbfgs(f, p, steps = 100, memory = 10, tol = 1e-8) {
  value_and_slope = value_and_grad(fn(x) = f(unflatten(x, p)))
  x = flatten(p)
  (y, g) = value_and_slope(x)
  moves = ()                # the last (move of x, change of g, 1 / their product)
  taken = 0
  while (taken < steps and norm(g) >= tol) {
    d = -_inverse_hessian(moves, g)
    (x2, y2, g2) = _line_search(value_and_slope, x, y, g, d)
    if (same(x2, x)) { break }
    (dx, dg) = (x2 - x, g2 - g)
    if (dot(dx, dg) > 0) {
      moves = append(moves, (dx, dg, 1 / dot(dx, dg)))
      if (len(moves) > memory) { moves = moves[1:] }
    }
    (x, y, g) = (x2, y2, g2)
    taken += 1
  }
  {p: unflatten(x, p), value: y, slope: norm(g), steps: taken, converged: norm(g) < tol}
}

# The inverse Hessian that the moves tell of, times g, in two passes over them.
fn _inverse_hessian(moves, g) {
  weights = ()
  for ((dx, dg, r) in moves[::-1]) {
    weights = append(weights, r * dot(dx, g))
    g = g - weights[-1] * dg
  }
  if (len(moves) > 0) {
    (dx, dg, r) = moves[-1]
    g = g / (r * dot(dg, dg))
  }
  for ((i, (dx, dg, r)) in enumerate(moves)) {
    g = g + (weights[-1 - i] - r * dot(dg, g)) * dx
  }
  g
}

# A step along d that lowers f enough (Armijo) and flattens it enough (Wolfe), by bisection.
fn _line_search(f, x, y, g, d) {
  (lo, hi, t) = (0, inf, 1)
  slope = dot(g, d)
  for (i in 0..50) {
    (y2, g2) = f(x + t * d)
    if (not (y2 <= y + 1e-4 * t * slope)) {
      hi = t
      t = (lo + hi) / 2
    } else if (dot(g2, d) < 0.9 * slope) {
      lo = t
      t = if (hi < inf) { (lo + hi) / 2 } else { 2 * lo }
    } else {
      return (x + t * d, y2, g2)
    }
  }
  (x, y, g)
}

# --- schedules: functions of the step, to be an optimiser's lr ------------------------------------

# constant(lr): the same at every step.
#   optim.constant(0.1)(5)  # 0.1
#   optim.constant(2)(0)  # 2
fn constant(lr) = fn(step) = lr

# step_decay(lr, every): times factor after each `every` steps.
#   optim.step_decay(8, every = 10, factor = 0.5)(20)  # 2
#   optim.step_decay(8, every = 10, factor = 0.5)(9)  # 8
fn step_decay(lr, every, factor = 0.1) = fn(step) = lr * factor ^ (step // every)

# exponential(lr, half): half as much after each `half` steps.
#   optim.exponential(8, half = 10)(20)  # 2
#   optim.exponential(8, half = 10)(0)  # 8
fn exponential(lr, half) = fn(step) = lr * 0.5 ^ (step / half)

# cosine(lr, steps): from lr down to `end` by half a wave over `steps` steps.
#   optim.cosine(8, steps = 100)(50)  # 4
#   optim.cosine(8, steps = 100, end = 2)(200)  # 2
fn cosine(lr, steps, end = 0) = fn(step) {
  end + (lr - end) * (1 + cos(pi * minimum(step / steps, 1))) / 2
}

# warmup(schedule, steps): from near 0 up to schedule, a number or a function, over the first steps.
#   optim.warmup(8, steps = 4)(1)  # 4
#   optim.warmup(optim.constant(8), steps = 4)(10)  # 8
fn warmup(schedule, steps) = fn(step) {
  _at(schedule, step) * minimum((step + 1) / steps, 1)
}

# --- clipping -------------------------------------------------------------------------------------

# global_norm(g): the Euclidean norm of all parts of g as one vector.
#   optim.global_norm({w: [3], b: 4.0})  # 5
#   optim.global_norm([0, 0])  # 0
fn global_norm(g) = norm(flatten(g))

# clip_by_norm(g, most): g, scaled down where its norm exceeds `most`.
#   optim.clip_by_norm({w: [3], b: 4.0}, 2.5)  # {w: [1.5], b: 2}
#   optim.clip_by_norm([3, 4], 10)  # [3, 4]
fn clip_by_norm(g, most) {
  n = global_norm(g)
  if (n <= most) { return g }
  _each(fn(g, again) = g * (most / n), g, g)
}

# clip_by_value(g, most): each element of g brought into [-most, most].
#   optim.clip_by_value([3, -4, 0.5], 1)  # [1, -1, 0.5]
#   optim.clip_by_value({w: [3], b: -4.0}, 2)  # {w: [2], b: -2}
fn clip_by_value(g, most) = _each(fn(g, again) = clamp(g, -most, most), g, g)
