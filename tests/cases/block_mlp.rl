# 64 layers in 8 blocks, the batch 8 times as wide as a layer: what blocks leave of the memory.
fn loss(p, x) {
  h = x
  for (k in 0..8) { for (j in 0..8) { h = tanh(h @ p[8 * k + j].w + p[8 * k + j].b) } }
  mean(h * h)
}
fn blocked(p, x) {
  h = x
  for (k in 0..8) { checkpoint < for (j in 0..8) { h = tanh(h @ p[8 * k + j].w + p[8 * k + j].b) } > }
  mean(h * h)
}
width = 64
p = map(fn(k) = {w: f32(randn(width, width) * 0.15), b: zeros_like(f32(ones(width)))}, 0..64)
p = fold(fn(t, layer) = append(t, layer), (), p)
x = f32(randn(8 * width, width))
fn figures(f) { m = measure(fn() = value_and_grad(f)(p, x)); (m.value, m.saved_peak_bytes, m.peak_bytes) }
params = 64 * (width * width + width) * 4
(v1, saved1, peak1) = figures(loss)
(v2, saved2, peak2) = figures(blocked)
print(same(v1, v2))                                        # expect: true
held = 64 * (width * width + width) * 4                    # the first gradient is still here
print(saved2 / saved1 <= 0.27)                             # expect: true
print((peak2 - held - params) / (peak1 - params) <= 0.35)  # expect: true
