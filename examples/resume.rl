# resume.rl: a training that may be killed at any moment and goes on with the same bits.
#
#     replay examples/resume.rl mlp.state        # kill it, and start it again: the last line will be the same
#
# save_state writes all that the loop carries, and with it the random state: so the batches and the dropout after
# the resumption are those that would have come. The file is replaced only when the new one is on the disk.

import "data" as data
import "nn" as nn
import "optim" as optim

path = if (len(args()) > 0) { args()[0] } else { none }
epochs = if (len(args()) > 1) { i64(f64(args()[1])) } else { 20 }

# Points within a circle, and outside it.
seed(7)
x = 2 * rand(400, 2) - 1
y = i64(sum(x * x, axis = 1) < 0.6)

fn model(p, x, train) {
  h = tanh(nn.dense(p.a, x))
  h = tanh(nn.dense(p.b, nn.dropout(h, 0.1, train)))
  nn.dense(p.out, h)
}

opt = optim.adam(lr = 0.01)
p = {a: nn.dense_init(2, 24), b: nn.dense_init(24, 24), out: nn.dense_init(24, 2)}
run = {p: p, s: opt.init(p), epoch: 0}
if (same(path, none)) { print("nothing is saved: no file was named") } else if (exists(path)) {
  run = load(path)
  print(format("on from epoch {}", run.epoch))
}

while (run.epoch < epochs) {
  for (batch in data.batches(len(y), 50)) {
    g = grad(fn(p) = nn.cross_entropy(model(p, x[batch], true), y[batch]))(run.p)
    (run.p, run.s) = opt.step(run.p, g, run.s)
  }
  run.epoch += 1
  if (not same(path, none)) { save_state(path, run) }
  if (run.epoch % 5 == 0) {
    print(format("epoch {:2d}  loss {:.4f}", run.epoch, nn.cross_entropy(model(run.p, x, false), y)))
  }
}
print(sum(flatten(run.p)), rand())

# expect: nothing is saved: no file was named
# expect: epoch  5  loss <*>
# expect: epoch 10  loss <*>
# expect: epoch 15  loss <*>
# expect: epoch 20  loss <*>
# expect: <*>
