# rnn.rl: a recurrent network adds the two marked numbers of a sequence, which it must remember.

import "nn" as nn
import "optim" as optim

seed(1)
(steps, batch, features) = (12, 64, 24)

# steps x batch x (a number, a mark), and the sum of the two marked numbers: one in each half.
fn problem() {
  number = rand(steps, batch)
  half = steps // 2
  mark = one_hot(randint(0, half, batch), steps) + one_hot(randint(half, steps, batch), steps)
  (stack((number, mark'), axis = 2), sum(number * mark', axis = 0))
}

# Each step is a block: a gradient keeps the states between the steps, not the gates inside them.
fn predict(p, xs) {
  h = zeros(batch, features)
  for (x in xs) { checkpoint < h = nn.gru_cell(p.cell, h, x) > }
  nn.dense(p.out, h)[:, 0]
}
fn loss(p, xs, t) = nn.mse(predict(p, xs), t)

p = {cell: nn.gru_init(2, features), out: nn.dense_init(features, 1)}
opt = optim.adam(lr = 0.01)
s = opt.init(p)
for (i in 0..601) {
  (xs, t) = problem()
  (l, g) = value_and_grad(loss)(p, xs, t)
  if (i % 100 == 0) { print(format("step {:3d}  loss {:.4f}", i, l)) }
  (p, s) = opt.step(p, optim.clip_by_norm(g, 1), s)
}
(xs, t) = problem()
two = xs[:, 0, 0][xs[:, 0, 1] == 1]        # the first sequence's marked numbers
print(format("{:.2f} + {:.2f} = {:.2f}; the network says {:.2f}", two[0], two[1], t[0], predict(p, xs)[0]))

# expect: step   0  loss 0.6807
# expect: step 100  loss 0.0145
# expect: step 200  loss 0.0019
# expect: step 300  loss 0.0004
# expect: step 400  loss 0.0003
# expect: step 500  loss 0.0003
# expect: step 600  loss 0.0001
# expect: 0.22 + 0.16 = 0.38; the network says 0.38
