# tiny.rl: a network 2-16-1 trained for 5,000 steps of gradient descent on 32 points. Its time is one run's.
import "./measure.rl" as m

x = m.noise(1, (32, 2))
y = x[:, 0:1] * x[:, 1:2]
p0 = {w1: m.noise(2, (2, 16)), b1: zeros(16), w2: m.noise(3, (16, 1)) / 4, b2: zeros(1)}

fn loss(p) = mean((tanh(x @ p.w1 + p.b1) @ p.w2 + p.b2 - y) ^ 2)

fn train() {
  p = p0
  for (step in 0..5000) {
    (l, g) = value_and_grad(loss)(p)
    p = p - 0.05 * g
  }
  (l, p.w1)
}
m.repeat("tiny", train, m.norm_of, 3)
