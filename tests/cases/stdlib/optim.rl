# The optimisers: first steps by hand, any structure, parts without a gradient, dtypes, schedules.
import "optim" as optim
fn close(a, b) = max(abs(a - b)) < 1e-12
fn after(opt, p, gs) {
  s = opt.init(p)
  for (g in gs) { (p, s) = opt.step(p, g, s) }
  p
}

print(close(after(optim.sgd(0.1), 1, (2, 3)), 1 - 0.2 - 0.3))                  # expect: true
print(close(after(optim.sgd(0.1, momentum = 0.5), 1, (2, 3)), 1 - 0.2 - 0.4))  # expect: true
print(close(after(optim.sgd(0.1, momentum = 0.5, nesterov = true), 1, (2, 3)), 1 - 0.1 * (2 + 1) - 0.1 * (3 + 0.5 * 4)))  # expect: true
print(close(after(optim.sgd(0.1, decay = 0.5), 1, (2,)), 1 - 0.1 * 2.5))       # expect: true
# A first step of Adam is lr in every direction, whatever the size of the gradient.
print(close(after(optim.adam(0.1, eps = 0), f64([1, 1]), (f64([1e-3, -50]),)), f64([0.9, 1.1])))  # expect: true
print(close(after(optim.adam(0.1, eps = 0), 1, (1, 3)), 0.9 - 0.1 * ((0.09 + 0.3) / 0.19) / sqrt((0.000999 + 0.009) / 0.001999)))  # expect: true
print(close(after(optim.adamw(0.1, eps = 0, decay = 0.5), 2, (1,)), 2 - 0.1 * (1 + 1)))  # expect: true
print(close(after(optim.rmsprop(0.1, fade = 0.75, eps = 0), 1, (2,)), 1 - 0.1 * 2 / 1))  # expect: true

# Any structure; what has no gradient, and every dtype, stays.
p = {w: ones(2, 2), t: (f32([1, 2]), {k: i64(7), name: "layer"}), empty: ()}
fn loss(p) = sum(p.w * p.w) + sum(p.t[0]) * p.t[1].k
for (opt in (optim.sgd(0.1, momentum = 0.9), optim.adam(0.1), optim.adamw(0.1), optim.rmsprop(0.1))) {
  q = p
  s = opt.init(q)
  for (i in 0..3) { (q, s) = opt.step(q, grad(loss)(q), s) }
  assert(loss(q) < loss(p), "downwards")
  assert(dtype(q.t[0]) == "f32" and same(q.t[1], p.t[1]) and same(q.empty, ()), "left alone")
}
print(keys(q), q.t[1])                       # expect: ("w", "t", "empty") {k: 7, name: "layer"}

# Schedules, as functions and as an optimiser's lr.
f = optim.cosine(1, 10)
print(f(0), format("{:.3f} {:.3f}", f(5), f(10)), f(20))                       # expect: 1 0.500 0.000 0
f = optim.step_decay(1, 10)
print(f(9), f(10), f(25))                                                      # expect: 1 0.1 0.010000000000000002
print(optim.exponential(1, 10)(20), optim.constant(3)(7))                      # expect: 0.25 3
f = optim.warmup(optim.constant(2), 4)
print(f(0), f(1), f(3), f(9))                                                  # expect: 0.5 1 2 2
print(close(after(optim.sgd(fn(step) = 1 / (1 + step)), 10, (1, 1, 1)), 10 - 1 - 1 / 2 - 1 / 3))  # expect: true

# Clipping.
g = {a: f64([3, 0]), b: f64(4), k: none}
print(optim.global_norm(g))                                                    # expect: 5
c = optim.clip_by_norm(g, 1)
print(close(c.a, [0.6, 0]), close(c.b, 0.8), c.k, same(optim.clip_by_norm(g, 9), g))  # expect: true true none true
print(optim.clip_by_value(g, 3.5))                                             # expect: {a: [3, 0], b: 3.5, k: none}

# Whole minimisations.
fn rosenbrock(p) = (1 - p.x) ^ 2 + 100 * (p.y - p.x ^ 2) ^ 2
r = optim.lbfgs(rosenbrock, {x: -1.2, y: 1}, steps = 100)
print(r.converged, r.steps < 60, abs(r.p.x - 1) < 1e-8, abs(r.p.y - 1) < 1e-8)  # expect: true true true true
r = optim.lbfgs(fn(x) = sum((0..50) * 1.0 * (x - 3) ^ 2), zeros(50), tol = 1e-6)
print(r.converged, max(abs(r.p[1:] - 3)) < 1e-6, r.p[0])                       # expect: true true 0
r = optim.lbfgs(fn(x) = x ^ 2, 0.0)
print(r.converged, r.steps)                                                    # expect: true 0
x = optim.minimize(fn(x) = (x - 2) ^ 2, 0.0, optim.adam(0.1), 500)
print(format("{:.4f}", x))                                                     # expect: 2.0000
# An optimiser is a program like any other: the derivative of what it found by where it aimed.
fn found(a) = optim.minimize(fn(x) = (x - a) ^ 2, 0.0, optim.sgd(0.1), 50)
print(close(grad(found)(3.0), 1 - 0.8 ^ 50))                                   # expect: true
