# Lesson 5: a network from nothing. Text: 05_mlp.md
seed(3)
fn init() = {w1: randn(8, 2), b1: zeros(8), w2: randn(1, 8) / 3, b2: zeros(1)}
fn net(p, x) = sigmoid(tanh(x @ p.w1' + p.b1) @ p.w2' + p.b2)
fn loss(p, x, y) {
  q = clamp(net(p, x)[:, 0], 1e-7, 1 - 1e-7)
  -mean(y * log(q) + (1 - y) * log(1 - q))
}

# Exclusive or: no line separates it.
x = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
y = [0.0, 1.0, 1.0, 0.0]
p = init()
first = loss(p, x, y)
for (i in 0..500) { p = p - 1.0 * grad(loss)(p, x, y) }
print(loss(p, x, y) < first / 10, round(net(p, x)[:, 0]))
# expect: true [0, 1, 1, 0]
print(check_grad(fn(p) = loss(p, x, y), init()).worst < 1e-6)
# expect: true
