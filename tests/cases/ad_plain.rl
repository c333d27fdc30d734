# Plain differentiation: immutability, loops, branches, integers, recursion, functions in records.
# `y = y + 1` after exp(y) needs no copy
print(grad(fn(x) { y = x; z = exp(y); y = y + 1; y * z })(0.0))   # expect: 2
# a filled loop is the vector form
fn filled(x) { a = zeros(4); for (i in 0..4) { a[i] = sin(x * i) }; sum(a * a) }
fn vector(x) { a = sin(x * (0..4)); sum(a * a) }
assert(abs(grad(filled)(0.3) - grad(vector)(0.3)) < 1e-14)
assert(same(filled(0.3), vector(0.3)))
# an integer argument gives floats
print(grad(fn(x) = x * x)(3))                                     # expect: 6
print(grad(fn(x) = sum(x * x))([1, 2, 3]))                        # expect: [2, 4, 6]
# zero-size arrays have zero-size gradients
g = grad(fn(x) = sum(x * x) + 1.0)(zeros(0))
print(shape(g))                                                   # expect: (0,)
print(shape(grad(fn(x) = sum(x @ x'))(zeros(0, 3))))              # expect: (0, 3)
# an == branch and an early exit take their branch's derivative
print(grad(fn(x) = if (x == 2.0) { 4.0 } else { x * x })(2.0))    # expect: 0
print(grad(fn(x) = if (x == 2.0) { 4.0 } else { x * x })(3.0))    # expect: 6
fn early(x) { if (x > 1) { return x * 10 }; x * x }
print(grad(early)(3.0), grad(early)(0.5))                         # expect: 10 1
# dead code after a return does not matter
fn dead(x) { for (i in 0..3) { if (i == 1) { return x^3 }; x = x * 2 }; log(-x) }
print(grad(dead)(1.0))                                            # expect: 24
# recursion, mutual recursion, functions in records
fn power(x, n) = if (n == 0) { 1.0 } else { x * power(x, n - 1) }
print(grad(power)(2.0, 5))                                        # expect: 80
fn even(n, x) = if (n == 0) { x } else { odd(n - 1, x * x) }
fn odd(n, x) = if (n == 0) { 2 * x } else { even(n - 1, x + x) }
print(grad(fn(x) = even(4, x))(1.0))                              # expect: 32
ops = {f: fn(x) = x * x, g: fn(x, k) = k * x}
print(grad(fn(x) = ops.f(x) + ops.g(x, 3))(2.0))                  # expect: 7
fn apply(r, x) = r.f(x) * r.w
print(grad(fn(w) = apply({f: fn(x) = x * w, w: w}, 2.0))(3.0))    # expect: 12
# closures differentiate through what they capture
fn adder(a) = fn(x) = a * x
print(grad(fn(a) = adder(a)(5.0) + adder(a * a)(1.0))(3.0))       # expect: 11
# records, tuples, text and integers as arguments
p = {w: [1, 2], n: i64(3), s: "relu", t: (2.0, [[1.0]])}
g = grad(fn(p) = sum(p.w * p.w) * p.t[0] + p.t[1][0, 0] * p.n)(p)
print(g.w, g.n, g.s, g.t)                                         # expect: [4, 8] none none (5, [[3]])
print(keys(g))                                                    # expect: ("w", "n", "s", "t")
# dtypes are those of the argument
print(dtype(grad(fn(x) = sum(x * x))(f32([1, 2]))))               # expect: f32
print(dtype(grad(fn(x) = sum(f64(x) * 2.0))(f32([1, 2]))))        # expect: f32
# by name, by a tuple of positions, with a value on the side
f = fn(a, b) = a * b * b
print(grad(f, wrt = "b")(2.0, 3.0), grad(f, wrt = (1, 0))(2.0, 3.0))  # expect: 12 (12, 9)
print(value_and_grad(fn(x) = (x * x, "side"), aux = true)(3.0))   # expect: ((9, "side"), 6)
print(grad(fn(x) = (x * x, x + 1), aux = true)(3.0))              # expect: (6, 4)
# while, with a float condition
fn newton(a) { y = a; while (abs(y * y - a) > 1e-12) { y = (y + a / y) / 2 }; y }
assert(abs(grad(newton)(2.0) - 0.5 / sqrt(2.0)) < 1e-9)
# higher orders
print(grad(grad(grad(fn(x) = x^4)))(2.0))                         # expect: 48
print(hessian(fn(x) = x[0]^2 * x[1])([3, 5]))                     # expect: [[10, 6],
# expect:  [ 6, 0]]
print(hvp(fn(x) = x[0]^2 * x[1], [3, 5], [1, 0]))                 # expect: [10, 6]
print(jacobian(fn(x) = [x[0] * x[1], x[0], 2.0])([3, 5]))         # expect: [[5, 3],
# expect:  [1, 0],
# expect:  [0, 0]]
(y, back) = vjp(fn(a, b) = a * b, 3.0, 4.0)
print(y, back(1.0), back(2.0))                                    # expect: 12 (4, 3) (8, 6)
print(jvp(fn(a, b) = a * b, (3.0, 4.0), (1.0, 0.5)))              # expect: (12, 5.5)
