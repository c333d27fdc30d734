# Long programs: stay linear in time, need no stack.
fn many(x, n) { for (i in 0..n) { checkpoint < x = x + 1e-6 * x > }; x }
g = grad(many)(1.0, i64(100000))
assert(abs(g - exp(100000 * log1p(1e-6))) < 1e-9)
fn million(x) { s = x; for (i in 0..1000000) { s = s * 0.5 + x }; s }
assert(abs(grad(million)(1.0) - 2.0) < 1e-12)
fn deep(x, n) = if (n == 0) { x } else { checkpoint < deep(x * 1.0001, n - 1) > }
g = grad(deep)(1.0, i64(1000))
assert(abs(g - 1.0001^1000) < 1e-9)
print("done")  # expect: done
