# Derivatives of every kind and order through slots equal those without to the bit.
fn plain(x) { y = x; for (i in 0..9) { y = sin(y) * x + 0.1 * y * y }; sum(y * y) }
fn slots(x) { y = x; checkpoint (slots = 3) < for (i in 0..9) { y = sin(y) * x + 0.1 * y * y } >; sum(y * y) }
fn loop(x) { y = x; i = 0; checkpoint (slots = 2) < while (i < 9) { y = sin(y) * x + 0.1 * y * y; i = i + 1 } >; sum(y * y) }
x = [0.3, 0.7, 1.1]
v = [1.0, -2.0, 0.5]
for (f in (slots, loop)) {
  assert(same(grad(f)(x), grad(plain)(x)), "grad")
  assert(same(jvp(f, x, v), jvp(plain, x, v)), "jvp")
  assert(same(hvp(f, x, v), hvp(plain, x, v)), "hvp")
  assert(same(hessian(f)(x), hessian(plain)(x)), "hessian")
  assert(same(jacobian(grad(f))(x), jacobian(grad(plain))(x)), "rows of the second derivative")
  assert(same(grad(fn(x) = sum(grad(f)(x) * v))(x), grad(fn(x) = sum(grad(plain)(x) * v))(x)), "reverse over reverse")
  assert(same(grad(fn(x) = sum(jvp(f, x, v)[1]))(x), grad(fn(x) = sum(jvp(plain, x, v)[1]))(x)), "reverse over forward")
  third = fn(g) = grad(fn(x) = sum(grad(fn(x) = sum(grad(g)(x) * v))(x) * x))
  assert(same(third(f)(x), third(plain)(x)), "third order")
  assert(same(hvp(fn(x) = sum(grad(f)(x)), x, v), hvp(fn(x) = sum(grad(plain)(x)), x, v)), "third order, mixed")
  # a pullback called twice, with other cotangents, and kept
  (y, back) = vjp(f, x)
  (z, again) = vjp(plain, x)
  assert(same((back(1.0), back(-2.0), back(1.0)), (again(1.0), again(-2.0), again(1.0))), "a pullback called again")
}
# in functions that the loop calls
fn inner(x, k) { checkpoint (slots = 2) < for (i in 0..k) { x = sin(x) * 1.3 } >; x }
fn inner_plain(x, k) { for (i in 0..k) { x = sin(x) * 1.3 }; x }
fn outer(x) { checkpoint (slots = 2) < for (i in 0..5) { x = inner(x, i) + 0.2 * x } >; x }
fn outer_plain(x) { for (i in 0..5) { x = inner_plain(x, i) + 0.2 * x }; x }
assert(same(grad(outer)(0.6), grad(outer_plain)(0.6)))
assert(same(grad(grad(outer))(0.6), grad(grad(outer_plain))(0.6)))
assert(same(grad(grad(grad(outer)))(0.6), grad(grad(grad(outer_plain)))(0.6)))
assert(same(hessian(outer)(0.6), hessian(outer_plain)(0.6)))
# random numbers are the forward pass's own at every order
fn noisy(x) { checkpoint (slots = 2) < for (i in 0..6) { x = sin(x) * (1 + rand()) } >; x }
fn noisy_plain(x) { for (i in 0..6) { x = sin(x) * (1 + rand()) }; x }
fn at(f) { seed(5); f(0.6) }
assert(same(at(grad(noisy)), at(grad(noisy_plain))))
assert(same(at(grad(grad(noisy))), at(grad(grad(noisy_plain)))))
assert(same(at(hessian(noisy)), at(hessian(noisy_plain))))
# second derivatives stay within the slots when forward goes over reverse
r = measure(fn() = hvp(fn(x) { checkpoint (slots = 3) < for (i in 0..50) { x = sin(x) } >; x }, 0.6, 1.0))
print(r.snapshots_peak, r.step_runs)   # expect: 3 231
