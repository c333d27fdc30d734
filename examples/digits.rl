# digits.rl: two networks read handwritten digits, 8 x 8 pictures: one sees 64 numbers, the other convolves.

import "nn" as nn
import "optim" as optim
import "data" as data

folder = if (exists("data/digits")) { "data/digits/" } else { "examples/data/digits/" }

# {x: [n, 8, 8] in 0 to 1, y: [n]} of the files "train-…" or "t10k-…".
fn pictures(name) = {
  x: f32(load(folder + name + "-images-idx3-ubyte.gz")) / 16,
  y: i64(load(folder + name + "-labels-idx1-ubyte.gz")),
}
(train, test) = (pictures("train"), pictures("t10k"))

fn mlp(p, x) = nn.mlp(p, reshape(x, (len(x), -1)))
fn conv(p, x) {
  x = max_pool(relu(nn.conv(p.c1, x[:, none])), 2)      # [n, 16, 4, 4]
  x = max_pool(relu(nn.conv(p.c2, x)), 2)               # [n, 32, 2, 2]
  nn.dense(p.out, reshape(x, (len(x), -1)))
}

fn learn(name, net, p) {
  opt = optim.adam(lr = optim.cosine(5e-3, 10 * len(train.y) / 50))
  s = opt.init(p)
  slope = value_and_grad(fn(p, x, y) = nn.cross_entropy(net(p, x), y))
  for (epoch in 1..11) {
    total = 0
    batches = data.batches(len(train.y), 50)
    for (ids in batches) {
      (loss, g) = slope(p, train.x[ids], train.y[ids])
      (p, s) = opt.step(p, g, s)
      total += loss
    }
    right = nn.accuracy(net(p, test.x), test.y)
    print(format("{:4}  epoch {:2d}  loss {:.4f}  test accuracy {:.2%}", name, epoch, total / len(batches), right))
  }
  assert(total / len(batches) < 0.2, "a loss below 0.2 was expected")
  right
}

seed(1)
a = learn("mlp", mlp, f32(nn.mlp_init((64, 64, 10))))
b = learn("conv", conv, f32({c1: nn.conv_init(1, 16), c2: nn.conv_init(16, 32), out: nn.dense_init(128, 10)}))
assert(a > 0.85 and b > a, "the convolutional net should read more of them")

# expect: mlp   epoch  1  loss <*>  test accuracy <*>%
# expect: mlp   epoch  2  loss 0.<*>  test accuracy <*>%
# expect: mlp   epoch  3  loss 0.<*>  test accuracy <*>%
# expect: mlp   epoch  4  loss 0.<*>  test accuracy <*>%
# expect: mlp   epoch  5  loss 0.<*>  test accuracy <*>%
# expect: mlp   epoch  6  loss 0.<*>  test accuracy <*>%
# expect: mlp   epoch  7  loss 0.<*>  test accuracy <*>%
# expect: mlp   epoch  8  loss 0.<*>  test accuracy <*>%
# expect: mlp   epoch  9  loss 0.<*>  test accuracy <*>%
# expect: mlp   epoch 10  loss 0.<*>  test accuracy <*>%
# expect: conv  epoch  1  loss <*>  test accuracy <*>%
# expect: conv  epoch  2  loss 0.<*>  test accuracy <*>%
# expect: conv  epoch  3  loss 0.<*>  test accuracy <*>%
# expect: conv  epoch  4  loss 0.<*>  test accuracy <*>%
# expect: conv  epoch  5  loss 0.<*>  test accuracy <*>%
# expect: conv  epoch  6  loss 0.<*>  test accuracy <*>%
# expect: conv  epoch  7  loss 0.<*>  test accuracy <*>%
# expect: conv  epoch  8  loss 0.<*>  test accuracy <*>%
# expect: conv  epoch  9  loss 0.<*>  test accuracy <*>%
# expect: conv  epoch 10  loss 0.<*>  test accuracy <*>%
