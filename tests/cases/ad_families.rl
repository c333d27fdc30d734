# The families behind the table of awkward points: each row of it, for every function, axis, dtype and mode alike.
fn close(a, b) = all(abs(a - b) <= 1e-9 * (1 + abs(b)))
fn check(what, a, b) = if (not close(a, b)) { print(what, a, b) }
# Reverse, forward, and a block around it all say the same.
fn slopes(what, f, x, want) {
  check(what + " reverse", grad(f)(x), want)
  check(what + " block", grad(fn(x) { y = checkpoint < f(x) >; y * 1 })(x), want)
  check(what + " forward", jvp(f, (x,), (ones_like(x),))[1], sum(want))
  f32_ = grad(f)(f32(x))
  assert(dtype(f32_) == "f32")
  if (not all(abs(f64(f32_) - want) <= 1e-5 * (1 + abs(want)))) { print(what + " f32", f32_, want) }
}

# 1. where guards what has an infinite slope, or none: 0 there, in all orders.
guarded = (("sqrt", sqrt, 0.0), ("log", log, 0.0), ("log2", log2, 0.0), ("log10", log10, 0.0), ("log1p", log1p, -1.0),
  ("cbrt", cbrt, 0.0), ("reciprocal", reciprocal, 0.0), ("asin", asin, 1.0), ("acos", acos, -1.0), ("acosh", acosh, 1.0),
  ("atanh", atanh, 1.0), ("x^-2", fn(x) = x ^ -2, 0.0), ("x^0.5", fn(x) = x ^ 0.5, 0.0), ("1/x", fn(x) = 1 / x, 0.0),
  ("lgamma", lgamma, 0.0), ("digamma", digamma, 0.0), ("exp", fn(x) = exp(1e4 + x), 0.0), ("x log x", fn(x) = x * log(x), 0.0),
  ("norm", fn(x) = hypot(x, 0) / x, 0.0), ("sqrt below", sqrt, -1.0), ("log below", log, -1.0))
for ((name, f, at) in guarded) {
  g = fn(x) = sum(where(x == at, x, f(x)))
  slopes("where " + name, g, [at], [1])
  h = fn(x) = sum(where(x == at, x * x, f(x)))
  check("where twice " + name, hessian(h)([at]), [[2]])
  # Where nothing comes back nothing is made of it.
  slopes("times 0 " + name, fn(x) = sum(where(x == at, 0, f(x))), [at], [0])
}

# 2. Products with no, one and several zeros, along each axis; and cumprod.
fn others(x) = stack(map(fn(i) = prod(where(0..len(x) == i, 1, x)), (0, 1, 2)))
for (x in ([2, 3, 4.0], [0, 3, 4.0], [0, 0, 4.0], [0, 0, 0.0])) {
  slopes("prod", prod, x, others(x))
  slopes("prod of a row", fn(x) = sum(prod(x, axis = 1)), stack((x, x)), stack((others(x), others(x))))
  slopes("prod of a column", fn(x) = sum(prod(x, axis = 0, keepdims = true)), stack((x, x), axis = 1), stack((others(x), others(x)), axis = 1))
  slopes("cumprod", fn(x) = cumprod(x)[2], x, others(x))
  check("prod twice", hessian(prod)(x), [[0, x[2], x[1]], [x[2], 0, x[0]], [x[1], x[0], 0]])
}

# 3. Norms, deviations and roots of sums at nothing.
for ((name, f) in (("norm", norm), ("norm of rows", fn(x) = sum(norm(x, axis = 1))), ("std", std), ("std of rows", fn(x) = sum(std(x, axis = 1))),
    ("std ddof", fn(x) = std(x, ddof = 1)), ("var", var), ("norm^2", fn(x) = norm(x) ^ 2), ("hypot", fn(x) = sum(hypot(x, 0 * x))))) {
  slopes(name, f, zeros(2, 3), zeros(2, 3))
}
slopes("std of ones", std, ones(4), zeros(4))

# 4. Ties share: over everything, along either axis, of two; and what picks a place picks one.
t = [[1, 2, 2.0], [2, 2, 0]]
slopes("max", max, t, [[0, 1, 1], [1, 1, 0]] / 4)
slopes("max down", fn(x) = sum(max(x, axis = 0)), t, [[0, 0.5, 1], [1, 0.5, 0]])
slopes("max along", fn(x) = sum(max(x, axis = -1)), t, [[0, 0.5, 0.5], [0.5, 0.5, 0]])
slopes("max of both", fn(x) = sum(max(x, axis = (0, 1), keepdims = true)), t, [[0, 1, 1], [1, 1, 0]] / 4)
slopes("min", min, -t, [[0, 1, 1], [1, 1, 0]] / 4)
slopes("median", median, [1, 2, 2, 2, 3.0], [0, 1, 1, 1, 0] / 3)
slopes("max of infinities", max, [inf, inf, 1], [0.5, 0.5, 0])
slopes("argmax", fn(x) = x[argmax(x)], [1, 1.0], [1, 0])
for ((name, f) in (("maximum", maximum), ("minimum", minimum))) {
  slopes(name + " itself", fn(x) = sum(f(x, x)), [1, 2.0], [1, 1])
  slopes(name + " a tie", fn(x) = sum(f(x, 1)), [1.0], [0.5])
}

# 5. Sums of exponentials too large or too small to write down.
for (big in (1000.0, -1000.0, 1e30, -1e30)) {
  slopes("logsumexp", logsumexp, [big, big], [0.5, 0.5])
  slopes("log_softmax", fn(x) = log_softmax(x)[0], [big, big], [0.5, -0.5])
  slopes("softmax", fn(x) = softmax(x)[0], [big, big], [0.25, -0.25])
}
slopes("logsumexp of nothing", fn(x) = logsumexp(x), [-inf, 0], [0, 1])
for (z in (-1e4, 0.0, 1e4)) { slopes("bce_with_logits", fn(x) = sum(bce_with_logits(x, 1)), [z], [sigmoid(z) - 1]) }
slopes("softplus", fn(x) = sum(softplus(x)), [-1e4, 0, 1e4], [0, 0.5, 1])
slopes("sigmoid", fn(x) = sum(sigmoid(x)), [-1e4, 0, 1e4], [0, 0.25, 0])

# 6. Gathers with the same place twice add up, however they are written.
w = [0.2, 0.3, 0.5]
ids = i64([0, 0, 1])
for ((name, f) in (("x[ids]", fn(x) = sum(x[ids] * w)), ("take", fn(x) = sum(take(x, ids) * w)), ("take_along", fn(x) = sum(take_along(x, ids) * w)),
    ("one_hot", fn(x) = sum((one_hot(ids, 2) @ x) * w)), ("a loop", fn(x) { s = 0; for ((k, i) in enumerate((0, 0, 1))) { s += x[i] * w[k] }; s }))) {
  slopes(name, f, [7, 8.0], [0.5, 0.5])
}

# 7. What was broadcast gets the sum, in its own shape.
b = [[1, 1, 1], [2, 2, 2.0]]
for ((name, f) in (("*", fn(a) = sum(a * b)), ("reversed", fn(a) = sum(b * a)), ("/", fn(a) = sum(a / (1 / b))), ("where", fn(a) = sum(where(b > 0, a, 0) * b)),
    ("+", fn(a) = sum((a + b) * b)), ("expand", fn(a) = sum(expand(a, (2, 3)) * b)))) {
  slopes(name, f, [1.0], [9])
  slopes(name, f, [[1], [1.0]], [[3], [6]])
  slopes(name, f, [[1, 1, 1.0]], [[3, 3, 3]])
}

# 8. Derivatives within derivatives of what they are taken by.
for (inner in (fn(f) = grad(f)(1.0), fn(f) = jvp(f, (1.0,), (1.0,))[1], fn(f) = vjp(f, 1.0)[1](1.0), fn(f) = jacobian(f)(1.0))) {
  f = fn(x) = x * inner(fn(y) = x + y)
  assert(grad(f)(1.0) == 1 and jvp(f, (1.0,), (1.0,))[1] == 1 and hessian(f)(1.0) == 0, "the inner one stays apart")
}

# 9. Powers of 0, by the base and by the exponent.
for ((k, first, second) in ((0.0, 0, 0), (1.0, 1, 0), (2.0, 0, 2), (3.0, 0, 0))) {
  f = fn(x) = x ^ k
  assert(grad(f)(0.0) == first and hessian(f)(0.0) == second, format("x^{} at 0", k))
}
for (k in (0.5, 1.0, 2.0)) { assert(grad(fn(k) = 0.0 ^ k)(k) == 0 and grad(fn(k) = 2.0 ^ k)(k) == 2 ^ k * log(2)) }
print("done")  # expect: done
