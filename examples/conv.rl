# conv.rl: a convolutional net tells crosses, squares and rings, drawn anywhere in a noisy picture.

import "nn" as nn
import "optim" as optim
import "data" as data

size = 12
fn drawing(kind, x, y) {
  (i, j) = ((0..size)[:, none] - y, (0..size)[none, :] - x)
  far = maximum(abs(i), abs(j))
  if (kind == 0) { (i * j == 0) and (far <= 3) } else if (kind == 1) { far == 3 } else { abs(sqrt(i * i + j * j) - 3) < 0.6 }
}
fn pictures(n) {
  kinds = randint(0, 3, n)
  fn picture(kind) = f64(drawing(kind, randint(3, 9), randint(3, 9))) + 0.3 * randn(size, size)
  (f32(map(picture, kinds))[:, none], kinds)
}

seed(2)
(x, y) = pictures(600)
(test_x, test_y) = pictures(200)

fn init() = f32({c1: nn.conv_init(1, 8), c2: nn.conv_init(8, 16), out: nn.dense_init(16, 3)})
fn net(p, x) {
  x = max_pool(relu(nn.conv(p.c1, x)), 2)
  x = relu(nn.conv(p.c2, x))
  nn.dense(p.out, max(x, axis = (2, 3)))      # where in the picture does not matter
}

p = init()
opt = optim.adam(lr = 1e-2)
s = opt.init(p)
slope = value_and_grad(fn(p, x, y) = nn.cross_entropy(net(p, x), y))
for (epoch in 1..7) {
  total = 0
  batches = data.batches(len(y), 50)
  for (ids in batches) {
    (loss, g) = slope(p, x[ids], y[ids])
    (p, s) = opt.step(p, g, s)
    total += loss
  }
  print(format("epoch {}  loss {:.4f}  test accuracy {:.1%}", epoch, total / len(batches), nn.accuracy(net(p, test_x), test_y)))
}
assert(nn.accuracy(net(p, test_x), test_y) > 0.95, "more than 95 % right was expected")

# expect: epoch 1  loss <*>  test accuracy <*>%
# expect: epoch 2  loss 0.<*>  test accuracy <*>%
# expect: epoch 3  loss 0.<*>  test accuracy <*>%
# expect: epoch 4  loss 0.<*>  test accuracy 9<*>%
# expect: epoch 5  loss 0.<*>  test accuracy <*>%
# expect: epoch 6  loss 0.<*>  test accuracy <*>%
