# fashion.rl: a network of two layers learns Fashion-MNIST, 28 x 28 pictures of ten kinds of clothes, from
# Debian's package dataset-fashion-mnist; without it, the handwritten digits of data/digits.
#   replay examples/fashion.rl         all 60,000 pictures
#   replay examples/fashion.rl 6000    so many of them
# args: 6000

import "nn" as nn
import "optim" as optim
import "data" as data

installed = "/usr/share/datasets/fashion-mnist/"
ours = if (exists("data/digits")) { "data/digits/" } else { "examples/data/digits/" }
folder = if (exists(installed + "train-images-idx3-ubyte.gz")) { installed } else { ours }

# {x: [n, pixels] in 0 to 1, y: [n]} of the files "train-…" or "t10k-…".
fn pictures(name) {
  x = load(folder + name + "-images-idx3-ubyte.gz")
  {x: f32(reshape(x, (len(x), -1))) / f32(max(x)), y: i64(load(folder + name + "-labels-idx1-ubyte.gz"))}
}

fn main(most) {
  (train, test) = (pictures("train"), pictures("t10k"))
  train = {x: train.x[:most], y: train.y[:most]}
  (n, pixels) = shape(train.x)
  (epochs, size) = (6, 64)

  seed(1)
  p = f32(nn.mlp_init((pixels, 256, 10)))
  opt = optim.adam(lr = optim.cosine(2e-3, epochs * n / size))
  s = opt.init(p)
  slope = value_and_grad(fn(p, x, y) = nn.cross_entropy(nn.mlp(p, x), y))

  for (epoch in 1..epochs + 1) {
    total = 0
    batches = data.batches(n, size)
    for ((i, ids) in enumerate(batches)) {
      (loss, g) = slope(p, train.x[ids], train.y[ids])
      (p, s) = opt.step(p, g, s)
      total += loss
      progress(i + 1, len(batches))
    }
    right = nn.accuracy(nn.mlp(p, test.x), test.y)
    print(format("epoch {}  loss {:.4f}  test accuracy {:.2%}", epoch, total / len(batches), right))
  }
  assert(right > (if (n < 60000) { 0.8 } else { 0.87 }), "more right answers were expected")
  assert(total / len(batches) < 0.5, "a loss below 0.5 was expected")
}
main(if (len(args()) > 0) { i64(args()[0]) } else { 60000 })

# expect: epoch 1  loss <*>  test accuracy <*>%
# expect: epoch 2  loss 0.<*>  test accuracy <*>%
# expect: epoch 3  loss 0.<*>  test accuracy <*>%
# expect: epoch 4  loss 0.<*>  test accuracy 8<*>%
# expect: epoch 5  loss 0.<*>  test accuracy 8<*>%
# expect: epoch 6  loss 0.<*>  test accuracy 8<*>%
