# Lesson 12: a model under a budget. Text: 12_budget.md
seed(5)
fn init(n, d) {
  p = ()
  for (i in 0..n) { p = append(p, randn(d, d) / sqrt(d)) }
  p
}
fn model(p, x) {
  for (w in p) { checkpoint < x = x + tanh(x @ w) > }
  x
}
fn plain(p, x) {
  for (w in p) { x = x + tanh(x @ w) }
  x
}
fn loss(p, x, y) = mean((model(p, x) - y)^2)
fn loss_plain(p, x, y) = mean((plain(p, x) - y)^2)

p = init(12, 32)
x = randn(256, 32)
y = randn(256, 32)

a = measure(fn() = grad(loss_plain)(p, x, y))
b = measure(fn() = grad(loss)(p, x, y))
print(same(a.value, b.value))
# expect: true
print(b.saved_peak_bytes < a.saved_peak_bytes, b.peak_bytes < a.peak_bytes)
# expect: true true

# Three steps of training: the same numbers either way.
q = p
for (i in 0..3) {
  p = p - 0.1 * grad(loss)(p, x, y)
  q = q - 0.1 * grad(loss_plain)(q, x, y)
}
print(same(p, q))
# expect: true
