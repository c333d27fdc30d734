# rnn.rl: 1000 steps of h = tanh(x[t] @ wx + h @ wh + b), 256 hidden, batch 64. Run with --float f32. A further
# argument: "block" for a checkpoint around each step, "dots" for one that keeps the products. With 1.4 the cotangents
# neither vanish into subnormal numbers, on which some processors take a hundred times as long, nor explode.
import "./measure.rl" as m

n = 256
steps = 1000
xs = m.noise(1, (steps, 64, n))
y = m.noise(2, (64, n))
p = {wx: m.noise(3, (n, n)) * (0.5 / sqrt(n)), wh: m.noise(4, (n, n)) * (1.4 / sqrt(n)), b: zeros(n)}

fn plain(p) {
  h = zeros(64, n)
  for (t in 0..steps) { h = tanh(xs[t] @ p.wx + h @ p.wh + p.b) }
  mean((h - y) ^ 2)
}
fn blocks(p) {
  h = zeros(64, n)
  for (t in 0..steps) { checkpoint < h = tanh(xs[t] @ p.wx + h @ p.wh + p.b) > }
  mean((h - y) ^ 2)
}
fn dots(p) {
  h = zeros(64, n)
  for (t in 0..steps) { checkpoint (save = "dots") < h = tanh(xs[t] @ p.wx + h @ p.wh + p.b) > }
  mean((h - y) ^ 2)
}
mode = m.word(1, "plain")
m.gradient("rnn", if (mode == "block") { blocks } else if (mode == "dots") { dots } else { plain }, p)
