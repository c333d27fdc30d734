# What blocks keep, measured. An array here is 80,000 bytes.
n = 10000
x0 = sin((0..n) * 0.1)
unit = 80000
fn chain(x, k) { for (i in 0..k) { x = sin(x) }; sum(x) }
fn blocked(x, k, b) { for (i in 0..k // b) { checkpoint < for (j in 0..b) { x = sin(x) } > }; sum(x) }
fn peak(f) = measure(f).peak_bytes / unit
fn held(f) = measure(f).saved_peak_bytes / unit
plain = measure(fn() = grad(chain)(x0, i64(64)))
parts = measure(fn() = grad(blocked)(x0, i64(64), i64(8)))
assert(same(plain.value, parts.value), "the same gradient")
assert(plain.saved_peak_bytes > 60 * unit, "plain keeps every step")
assert(parts.saved_peak_bytes < 20 * unit, "blocks keep their entries and one block")
assert(parts.peak_bytes < 0.35 * plain.peak_bytes)
# a loop that only runs forward stays flat, and so do many gradients in a row
a = measure(fn() = chain(x0, 10)).peak_bytes
b = measure(fn() = chain(x0, 1000)).peak_bytes
assert(b <= a + unit)
fn many(k) { for (i in 0..k) { g = grad(chain)(x0, 3) }; g }
a = measure(fn() = many(2)).peak_bytes
b = measure(fn() = many(1000)).peak_bytes
assert(b <= a + unit)
# a large value read by a block in a loop is kept once, not for each step
y = (0..500) * 0.01
fn reads(x, z) { s = 0.0; for (i in 0..len(y)) { checkpoint < s = s + sum(x * (y[i] + z)) > }; s }
a = measure(fn() = grad(reads)(x0, x0)).peak_bytes
assert(a < 12 * unit, "the peak does not grow with the loop's length")
# a large constant made inside a block is not kept
fn makes(x) { checkpoint < a = (0..1000000) * 1.0; s = sum(a * x) >; s * s }
r = measure(fn() = grad(makes)(2.0))
assert(r.saved_peak_bytes < 8000000 / 10 + 16000000 * 1.1)
# replayed values are freed as the adjoint passes them, also when the pullback is called twice
(v, back) = vjp(fn(x) = blocked(x, i64(64), i64(8)), x0)
once = measure(fn() = back(1.0)).peak_bytes
twice = measure(fn() = (back(1.0), back(2.0))).peak_bytes
assert(twice <= once + 3 * unit)
# the same block function called twice: one working set at a time
fn stage(x) { checkpoint < for (j in 0..16) { x = sin(x) } >; x }
one = measure(fn() = grad(fn(x) = sum(stage(x)))(x0)).peak_bytes
two = measure(fn() = grad(fn(x) = sum(stage(stage(x))))(x0)).peak_bytes
assert(two <= one + 4 * unit)
# 500 steps of a power iteration in blocks of 20: states and one block
c = eye(20) + 0.01 * sin(reshape(0..400, 20, 20))
fn power(c, steps, b) {
  d = eye(20)
  for (i in 0..steps // b) { checkpoint < for (j in 0..b) { d = c @ d; d = d / norm(d) } > }
  sum(d)
}
state = 20 * 20 * 8
r = measure(fn() = grad(power)(c, i64(500), i64(20)))
assert(r.saved_peak_bytes < (25 + 20 * 4 + 20) * state)
