# Elementwise primitives in a row: broadcasting, views, dtypes, arrays written in place, errors among them.
# Values that stand out here stand in any mode; tests/run_flags.sh compares every bit with fusing off.
seed(1)
x = randn(300, 5)
b = randn(5)
c = randn(300, 1)
y = (x * 2 + b) * c - x / (1 + x * x)
print(shape(y), sum(abs(y - (x * 2 + b) * c + x / (1 + x * x))) < 1e-9)   # expect: (300, 5) true

# Transposed, reversed and sliced operands; the same array twice.
t = x'
print(same((t + 1) * t - t, ((x + 1) * x - x)'))                            # expect: true
print(same((x[::-1, :] * 3 - 1) ^ 2, ((x * 3 - 1) ^ 2)[::-1, :]))           # expect: true
print(same((x[1:, ::2] + x[:-1, ::2]) * 0.5, ((x[1:, :] + x[:-1, :]) * 0.5)[:, ::2]))  # expect: true

# f32 with f64, bools as numbers, where.
z = f32(x)
print(dtype(z * 2 + 1), dtype(z * x + 1), same((x > 0) * x + 0, where(x > 0, x, x * 0) + 0))  # expect: f32 f64 true
print(all(where(x > 0, x, -x) * 1 == abs(x)))                               # expect: true

# What was there before stays, whoever is written into.
fn twice(a) {
  k = a + 1
  a = a * 2 - k
  a = tanh(a) * a
  (k, a)
}
before = x + 0
(k, a) = twice(x)
print(same(x, before), same(k - 1 + 0, (x + 1) - 1 + 0))                    # expect: true true

# An error in the middle is the one that stood there, and nothing before it is lost.
print(try(fn() = sum((x * 2 + 1) * randn(4)))[1])                           # expect: *: shapes [300, 5] and [4] do not fit: axis 1 from the end is 5 on one side and 4 on the other
print(try(fn() = ((x + 1) * "a"))[1])                                       # expect: *: not defined between f64[300, 5] and string

# Gradients through all of it, against differences.
fn f(p) = sum(tanh(p.x * p.b + p.c) * where(p.x > 0, exp(-p.x * p.x), sin(p.x) / (2 + p.c)))
print(check_grad(f, {x: x[:7, :], b: b, c: c[:7, :]}).worst < 1e-6)         # expect: true
fn pairs(q) = sum((q[none, :, :] - q[:, none, :]) ^ 2 * exp(-(q[none, :, :] - q[:, none, :]) ^ 2))
print(check_grad(pairs, x[:6, :3]).worst < 1e-6)                            # expect: true
print(max(abs(hvp(pairs, x[:6, :3], x[:6, 2:5]) - grad(fn(q) = sum(grad(pairs)(q) * x[:6, 2:5]))(x[:6, :3]))) < 1e-9)  # expect: true

# Large enough for two threads.
big = linspace(-3, 3, 200_000)
w = grad(fn(y) = sum(sin(y) * 0.9 + exp(-y * y) * 0.1))(big)
print(max(abs(w - (cos(big) * 0.9 - 0.2 * big * exp(-big * big)))) < 1e-12)  # expect: true
