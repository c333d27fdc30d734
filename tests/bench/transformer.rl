# transformer.rl: 6 pre-norm layers, 256 features, 4 heads, sequence 256, batch 8. Run with --float f32.
import "./measure.rl" as m
import "nn" as nn

seed(1)
d = 256
x = randn(8, 256, d)
y = randn(8, 256, d)
p = ()
for (i in 0..6) { p = append(p, nn.transformer_init(d, 4 * d)) }

fn loss(p) {
  h = x
  for (l in p) { h = nn.transformer(l, h, heads = 4, causal = false) }
  mean((h - y) ^ 2)
}
m.gradient("transformer", loss, p)
