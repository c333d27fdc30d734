# deep.rl: a network of 64 layers over a batch of 2048, differentiated within a twentieth of the memory that keeping every
# layer takes.

(layers, width, batch) = (64, 8, 2048)
seed(5)
x = randn(batch, width)
w = {a: randn(layers, width, width) / sqrt(width), b: randn(layers, width, width) / sqrt(width)}

fn layer(h, a, b) {
  z = (h - mean(h, axis = 1)[:, none]) @ a
  h + 0.3 * tanh(z * sigmoid(z) @ b)
}
fn loss(w) {
  h = x
  for (k in 0..layers) { h = layer(h, w.a[k], w.b[k]) }
  mean(h * h)
}
# The same, and nothing else is said about what to keep.
fn within(w) { checkpoint (budget = 1400KB) < l = loss(w) >; l }

all = measure(fn() = value_and_grad(loss)(w))
few = measure(fn() = value_and_grad(within)(w))
print(format("the same gradient: {}", same(few.value, all.value)))
print(format("bytes at most: {} without a budget, {} within one; a twentieth or less: {}", all.peak_bytes, few.peak_bytes, few.peak_bytes * 20 <= all.peak_bytes))
print(format("each step executed {:.2f} times", few.step_runs / layers))

# expect: the same gradient: true
# expect: bytes at most: <*> without a budget, <*> within one; a twentieth or less: true
# expect: each step executed <*> times
