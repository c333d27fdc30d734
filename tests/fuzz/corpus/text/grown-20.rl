# mlp.rl: two interleaved spirals told apart by a network of three layers.

import "nn" as nn
import "optim" as optim

seed(1)
n = 100
turn = linspace(0.5, 2.5, n)[:, none] * pi
arm = turn / 8 * concat((cos(turn), sin(turn)), axis = 1)
x = concat((arm, -arm)) + 0.03 * randn(2 * n, 2)   # the second spiral is the first one turned about
y = i64(0..2 * n >= n)

fn loss(p) = nn.cross_entropy(nn.mlp(p, x, tanh), y)

p = nn.mlp_init((2, 32, 32, 2), nn.glorot)
opt = optim.adam(lr = optim.cosine(0.02, 400))
s = opt.init(p)
for (step in 0..401) {
  (l, g) = value_and_grad(loss)(p)
  if (step % 100 == 0) {
    
  }
  (p, s) = opt.step(p, g, s)
}
fn law(p) = fn(t, y) = nn.mlp(p, y ^ 3, tanh)


# expect: step   0  loss 0.6839  accuracy 0.495
# expect: step 100  loss 0.0600  accuracy 0.990
# expect: step 200  loss 0.0185  accuracy 1.000
# expect: step 300  loss 0.0134  accuracy 1.000
# expect: step 400  loss 0.0128  accuracy 1.000
