# ode.rl: a pendulum's length found from how it swings, by gradients through the equation's solver.

import "ode" as ode

g = 9.81
fn swing(length) = fn(t, s) = {angle: s.speed, speed: -g / length * sin(s.angle)}

# What was seen: the angle at 40 times within 4 seconds.
ts = linspace(0, 4, 41)
start = {angle: 1, speed: 0}
seen = ode.rk4(swing(2), start, ts, steps = 5).angle

fn loss(length) = mean((ode.rk4(swing(length), start, ts, steps = 5).angle - seen) ^ 2)

length = 1.5
for (step in 0..4) {
  (l, slope) = value_and_grad(loss)(length)
  print(format("step {}  length {:.6f}  loss {:.1e}", step, length, l))
  length = length - 2 * l / slope          # Newton's step to where the root of the loss is 0
}

# Where is the pendulum after n steps, and how does that depend on its length? The loop is checkpointed:
# a gradient keeps 8 of the states and makes the others again.
n = 400
fn final(length) {
  (f, s) = (swing(length), start)
  checkpoint (slots = 8) <
    for (i in 0..n) { s = ode.rk4_step(f, i * 0.01, s, 0.01) }
  >
  s.angle
}
fn final_plain(length) {
  (f, s) = (swing(length), start)
  for (i in 0..n) { s = ode.rk4_step(f, i * 0.01, s, 0.01) }
  s.angle
}
print(format("angle {:.6f}, by length {:.6f}", final(2), grad(final)(2)))
print("same bits without a block:", same(grad(final)(2), grad(final_plain)(2)))
print(format("a difference quotient  {:.6f}", (final(2.00001) - final(1.99999)) / 0.00002))

# expect: step 0  length 1.500000  loss 2.8e-01
# expect: step 1  length 1.982820  loss 2.6e-04
# expect: step 2  length 1.999880  loss 1.2e-08
# expect: step 3  length 2.000000  loss 3.1e-17
# expect: angle -0.446294, by length 1.883819
# expect: same bits without a block: true
# expect: a difference quotient  1.883819
