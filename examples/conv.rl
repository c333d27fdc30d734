# conv.rl: a convolutional net learns Fashion-MNIST from Debian's package dataset-fashion-mnist; without it, the
# handwritten digits of data/digits.
#   replay examples/conv.rl        all 60,000 pictures
#   replay examples/conv.rl 2000   so many of them
# args: 2000

import "nn" as nn
import "optim" as optim
import "data" as data

installed = "/usr/share/datasets/fashion-mnist/"
ours = if (exists("data/digits")) { "data/digits/" } else { "examples/data/digits/" }
folder = if (exists(installed + "train-images-idx3-ubyte.gz")) { installed } else { ours }

# {x: [n, 1, side, side] in 0 to 1, y: [n]} of the files "train-…" or "t10k-…".
fn pictures(name, most) {
  x = load(folder + name + "-images-idx3-ubyte.gz")[:most, none]
  {x: f32(x) / f32(max(x)), y: i64(load(folder + name + "-labels-idx1-ubyte.gz"))[:most]}
}

# Two convolutions, each halving the picture, then one layer over what is left of it.
fn init(side) = f32({c1: nn.conv_init(1, 16), c2: nn.conv_init(16, 32), out: nn.dense_init(32 * (side // 4) ^ 2, 10)})
fn net(p, x) {
  x = max_pool(relu(nn.conv(p.c1, x)), 2)
  x = max_pool(relu(nn.conv(p.c2, x)), 2)
  nn.dense(p.out, reshape(x, (len(x), -1)))
}

fn main(most) {
  (train, test) = (pictures("train", most), pictures("t10k", 1000))
  (n, epochs, size) = (len(train.y), 5, 50)
  seed(1)
  p = init(shape(train.x)[2])
  opt = optim.adam(lr = optim.cosine(3e-3, epochs * n / size))
  s = opt.init(p)
  slope = value_and_grad(fn(p, x, y) = nn.cross_entropy(net(p, x), y))
  for (epoch in 1..epochs + 1) {
    total = 0
    batches = data.batches(n, size)
    for ((i, ids) in enumerate(batches)) {
      (loss, g) = slope(p, train.x[ids], train.y[ids])
      (p, s) = opt.step(p, g, s)
      total += loss
      progress(i + 1, len(batches))
    }
    right = nn.accuracy(net(p, test.x), test.y)
    print(format("epoch {}  loss {:.4f}  test accuracy {:.1%}", epoch, total / len(batches), right))
  }
  assert(total / len(batches) < 0.6 and right > 0.75, "a lower loss and more right answers were expected")
}
main(if (len(args()) > 0) { i64(args()[0]) } else { 60000 })

# expect: epoch 1  loss <*>  test accuracy <*>%
# expect: epoch 2  loss 0.<*>  test accuracy <*>%
# expect: epoch 3  loss 0.<*>  test accuracy <*>%
# expect: epoch 4  loss 0.<*>  test accuracy <*>%
# expect: epoch 5  loss 0.<*>  test accuracy <*>%
