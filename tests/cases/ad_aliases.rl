# Gradients that other systems got silently wrong: the same value in several places, swaps, aliases,
# outputs that are constants or inputs.
print(grad(fn(x) = sum(x * x + x))([1, 2]))                       # expect: [3, 5]
fn twice(a, b) = sum(a * b)
print(grad(fn(x) = twice(x, x))([1, 2]))                          # expect: [2, 4]
print(grad(fn(m) = sum(m @ m))([[1, 2], [3, 4]]))                 # expect: [[7, 11],
# expect:  [9, 13]]
print(grad(fn(m) = sum(m @ m'))([[1, 2], [3, 4]]))                # expect: [[8, 12],
# expect:  [8, 12]]
# a loop that swaps what it carries
fn swapped(x, n) { a = x; b = x * x; for (i in 0..n) { (a, b) = (b, a) }; a * 10 + b }
print(grad(swapped)(2.0, 0), grad(swapped)(2.0, 1), grad(swapped)(2.0, 2))  # expect: 14 41 14
fn fibonacci(x, n) { a = x; b = 1.0; for (i in 0..n) { (a, b) = (b, a + b) }; b }
print(grad(fibonacci)(1.0, 1), grad(fibonacci)(1.0, 6))           # expect: 1 8
# carried: integers, bools, records
fn mixed(x) {
  k = i64(0); on = true; r = {v: x, n: i64(1)}
  for (i in 0..5) {
    if (on) { r.v = r.v * x; k += 1 }
    r.n = r.n + k
    on = not on
  }
  r.v + r.n
}
print(mixed(2.0), grad(mixed)(2.0))                               # expect: 26 32
# results: constant, an argument passed on, the same twice, unused
(y, back) = vjp(fn(x) = (1.0, x, x * 2, x), 3.0)
print(y, back((5.0, 1.0, 1.0, 10.0)))                             # expect: (1, 3, 6, 3) 13
fn some(x) = (sin(x), x * x, i64(4), true, none)
print(grad(fn(x) = some(x)[1])(3.0))                              # expect: 6
# captured and passed, inside and outside
w = [1.0, 2.0]
print(grad(fn(w) { f = fn(x) = x * w; sum(f(w)) + sum(w) })(w))   # expect: [3, 5]
# updates by index: what is overwritten gets nothing
print(grad(fn(x) { x[1] = 5; sum(x * x) })([1, 2, 3]))            # expect: [2, 0, 6]
print(grad(fn(x) { y = x; y[0] = x[2] * 2; sum(y) })([1, 2, 3]))  # expect: [0, 1, 3]
print(grad(fn(x) { x[0] += x[1]; x[0] += x[1]; x[0] })([1, 2]))   # expect: [1, 2]
print(grad(fn(v) { x = zeros(3); x[:] = v; sum(x) })(2.0))        # expect: 3
# loops over values
print(grad(fn(x) { s = 0.0; for (v in x) { s = s * 2 + v }; s })([1, 1, 1]))  # expect: [4, 2, 1]
print(grad(fn(m) { s = 0.0; for (r in m) { s += sum(r) * r[0] }; s })([[1, 2], [3, 4]]))  # expect: [[ 4, 1],
# expect:  [10, 3]]
print(grad(fn(x) { s = 0.0; for ((i, v) in enumerate(x)) { s += v * i }; s })([5, 5, 5]))  # expect: [0, 1, 2]
print(grad(fn(a) { s = 0.0; for (v in (a, a * 2, 3)) { s += v * v }; s })(1.0))  # expect: 10
# break and continue
fn leaving(x) { s = 0.0; for (i in 0..10) { if (i == 1) { continue }; if (i > 3) { break }; s += x^i }; s }
print(grad(leaving)(2.0))                                         # expect: 16
