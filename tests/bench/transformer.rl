# transformer.rl: 6 pre-norm layers, 256 features, 4 heads, sequence 256, batch 8. Run with --float f32.
import "./measure.rl" as m
import "nn" as nn

d = 256
x = m.noise(1, (8, 256, d))
y = m.noise(2, (8, 256, d))
p = ()
for (i in 0..6) {
  fn w(k, rows, cols) = m.noise(10 + 10 * i + k, (rows, cols)) / sqrt(rows)
  fn dense(k, rows, cols) = {w: w(k, rows, cols), b: zeros(cols)}
  norm = {scale: ones(d), shift: zeros(d)}
  p = append(p, {
    norm1: norm, attention: {q: dense(0, d, d), k: dense(1, d, d), v: dense(2, d, d), out: dense(3, d, d)},
    norm2: norm, up: dense(4, d, 4 * d), down: dense(5, 4 * d, d),
  })
}

fn loss(p) {
  h = x
  for (l in p) { h = nn.transformer(l, h, heads = 4, causal = false) }
  mean((h - y) ^ 2)
}
m.gradient("transformer", loss, p)
