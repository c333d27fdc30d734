import "nn" as nn
import "optim" as optim

fn block(p, h) = h + nn.dense(p.down, gelu(nn.dense(p.up, h)))
fn model(p, x) {
  h = nn.dense(p.first, x)
  for (layer in p.blocks) {
    checkpoint < h = block(layer, h) >      # kept: what enters; replayed: what is inside
  }
  nn.dense(p.last, h)
}
fn loss(p, x, y) = mean((model(p, x) - y)^2)

seed(1)
x = linspace(-3, 3, 200)[:, none]           # 200 points, as a column
y = sin(2 * x) + 0.1 * randn(200, 1)
p = {
  first: nn.dense_init(1, 16),
  blocks: nn.layers(8, fn() = {up: nn.dense_init(16, 64), down: nn.dense_init(64, 16)}),
  last: nn.dense_init(16, 1),
}
opt = optim.adam(lr = 0.003)
s = opt.init(p)
for (i in 0..201) {
  (l, g) = value_and_grad(loss)(p, x, y)    # g has the fields of p
  (p, s) = opt.step(p, g, s)
  if (i % 50 == 0) { print(format("step {:3d}  loss {:.4f}", i, l)) }
}
# expect: step   0  loss 1.8045
# expect: step  50  loss 0.0820
# expect: step 100  loss 0.0103
# expect: step 150  loss 0.0101
# expect: step 200  loss 0.0099
