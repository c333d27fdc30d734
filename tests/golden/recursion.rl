# Recursion through a closure: a call leaves its callee's residual.
fn power(x, n) {
  step = fn(v) = v * x
  if (n == 0) { return 1.0 }
  step(power(x, n - 1))
}
