# mlp.rl: 64 layers of tanh(h @ w + b), width 512, batch 512, mean squared error. Run with --float f32.
# Further arguments: layers, batch, and "block" for a checkpoint around each layer.
import "./measure.rl" as m

layers = m.number(1, 64)
batch = m.number(2, 512)
mode = m.word(3, "plain")
width = 512
x = m.noise(1, (batch, width))
y = m.noise(2, (batch, width))
p = ()
for (i in 0..layers) { p = append(p, {w: m.noise(10 + i, (width, width)) / sqrt(width), b: zeros(width)}) }

fn plain(p) {
  h = x
  for (l in p) { h = tanh(h @ l.w + l.b) }
  mean((h - y) ^ 2)
}
fn blocks(p) {
  h = x
  for (l in p) { checkpoint < h = tanh(h @ l.w + l.b) > }
  mean((h - y) ^ 2)
}
fn dots(p) {
  h = x
  for (l in p) { checkpoint (save = "dots") < h = tanh(h @ l.w + l.b) > }
  mean((h - y) ^ 2)
}
m.gradient("mlp", if (mode == "block") { blocks } else if (mode == "dots") { dots } else { plain }, p)
