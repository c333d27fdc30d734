# Values nested deep in a part that is not the last are compared, printed, reckoned with and freed as any others.
fn nest(n, last) {
  t = (last,)
  for (i in 0..n) { t = (t, i) }
  t
}
a = nest(200000, 1.0)
b = nest(200000, 1.0)
c = nest(200000, 2.0)
print(same(a, b), same(a, c), same(b, c))     # expect: true false false
print(has((1, a), b), has((1, a), c))         # expect: true false
fn dress(n, last) {
  t = {a: last, b: 1}
  for (i in 0..n) { t = {a: t, b: i} }
  t
}
print(same(dress(50000, "x"), dress(50000, "x")), same(dress(50000, "x"), dress(50000, "y")))   # expect: true false
g = grad(fn(t) = sum(flatten(t)))(a)
print(same(g, grad(fn(t) = sum(flatten(t)))(b)))   # expect: true
fn close(n, v) {
  f = fn() = v
  for (i in 0..n) {
    g = f
    f = fn() = (g, i)
  }
  f
}
print(same(close(20000, 1), close(20000, 1)), same(close(20000, 1), close(20000, 2)))   # expect: true false
f = close(20000, 1)
print(same(f, f))                                  # expect: true
