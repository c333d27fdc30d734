# A nest of loops whose inner counts depend on the data.
x0 = sin((0..4000) * 0.1)
fn f(x) {
  k = 7
  for (i in 0..60) {
    k = (k * 31 + 11) % 17
    for (j in 0..k) { x = sin(x) * 1.05 + 0.05 }
    x = x - 0.01 * x * mean(x)
  }
  sum(x * x)
}
(y, g) = value_and_grad(f)(x0)
print(y, sum(g), max(g), g[17])
