# fashion.rl: a network of two layers learns Fashion-MNIST: 28 x 28 pictures of ten kinds of clothes.
# The pictures come with Debian's package dataset-fashion-mnist.
# needs: /usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz

import "nn" as nn
import "optim" as optim
import "data" as data

folder = "/usr/share/datasets/fashion-mnist/"
fn pictures(name) = f32(reshape(load(folder + name + "-images-idx3-ubyte.gz"), (-1, 784))) / 255
fn labels(name) = i64(load(folder + name + "-labels-idx1-ubyte.gz"))

fn main() {
  if (not exists(folder + "train-images-idx3-ubyte.gz")) {
    print("Fashion-MNIST is not installed: apt install dataset-fashion-mnist")
    return none
  }
  (x, y) = (pictures("train"), labels("train"))
  (test_x, test_y) = (pictures("t10k"), labels("t10k"))

  seed(1)
  p = f32(nn.mlp_init((784, 256, 10)))
  batch = 128
  epochs = 6
  opt = optim.adam(lr = optim.cosine(2e-3, epochs * len(y) / batch))
  s = opt.init(p)
  slope = value_and_grad(fn(p, x, y) = nn.cross_entropy(nn.mlp(p, x), y))

  for (epoch in 1..epochs + 1) {
    total = 0
    batches = data.batches(len(y), batch)
    for ((i, ids) in enumerate(batches)) {
      (loss, g) = slope(p, x[ids], y[ids])
      (p, s) = opt.step(p, g, s)
      total += loss
      progress(i + 1, len(batches))
    }
    right = nn.accuracy(nn.mlp(p, test_x), test_y)
    print(format("epoch {}  loss {:.4f}  test accuracy {:.2%}", epoch, total / len(batches), right))
  }
  assert(right > 0.87, "test accuracy over 87 % was expected")
}
main()

# expect: epoch 1  loss 0.<*>  test accuracy 8<*>%
# expect: epoch 2  loss 0.<*>  test accuracy 8<*>%
# expect: epoch 3  loss 0.<*>  test accuracy 8<*>%
# expect: epoch 4  loss 0.<*>  test accuracy 8<*>%
# expect: epoch 5  loss 0.<*>  test accuracy 8<*>%
# expect: epoch 6  loss 0.<*>  test accuracy 8<*>%
