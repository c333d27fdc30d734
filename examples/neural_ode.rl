# neural_ode.rl: a law of motion learnt from where things went. The right-hand side of a differential
# equation is a network, trained through the Runge-Kutta solver. Every step of it is a checkpoint block.

import "nn" as nn
import "ode" as ode
import "optim" as optim

seed(1)
fn spiral(t, y) = y ^ 3 @ [[-0.1, 2], [-2, -0.1]]
ts = linspace(0, 6, 61)
start = f64([[1.5, 0]])
seen = ode.rk4(spiral, start, ts, steps = 4)

# The network is given cubes, and has to find how they turn.
fn law(p) = fn(t, y) = nn.mlp(p, y ^ 3, tanh)

# Learns from short stretches that begin where something was seen.
length = 8
fn loss(p, from) {
  y = ode.rk4(law(p), seen[from, 0], ts[:length])
  nn.mse(y, map(fn(k) = seen[from + k, 0], 0..length))
}

p = nn.mlp_init((2, 32, 2), nn.glorot)
opt = optim.adam(lr = optim.cosine(0.02, 600))
s = opt.init(p)
for (i in 0..601) {
  (l, g) = value_and_grad(loss)(p, randint(0, len(ts) - length, 16))
  if (i % 150 == 0) { print(format("step {:3d}  loss {:.4f}", i, l)) }
  (p, s) = opt.step(p, optim.clip_by_norm(g, 1), s)
}

path = ode.rk4(law(p), start, ts)
for (k in (15, 30, 45, 60)) {
  print(format("time {:.1f}  seen {:5.2f} {:5.2f}  learnt {:5.2f} {:5.2f}", ts[k], seen[k, 0, 0], seen[k, 0, 1], path[k, 0, 0], path[k, 0, 1]))
}

# expect: step   0  loss 0.5880
# expect: step 150  loss 0.0025
# expect: step 300  loss 0.0008
# expect: step 450  loss 0.0003
# expect: step 600  loss 0.0003
# expect: time 1.5  seen -0.34 -1.18  learnt -0.35 -1.23
# expect: time 3.0  seen  0.43  1.00  learnt  0.17  1.02
# expect: time 4.5  seen -0.89 -0.37  learnt -0.79 -0.65
# expect: time 6.0  seen  0.57 -0.75  learnt  0.71 -0.58
