# Solutions of lesson 5: mean squares instead of cross entropy.
seed(3)
fn net(p, x) = sigmoid(tanh(x @ p.w1' + p.b1) @ p.w2' + p.b2)
fn squares(p, x, y) = mean((net(p, x)[:, 0] - y)^2)
p = {w1: randn(8, 2), b1: zeros(8), w2: randn(1, 8) / 3, b2: zeros(1)}
x = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
y = [0.0, 1.0, 1.0, 0.0]
steps = 0
while (any(round(net(p, x)[:, 0]) != y) and steps < 20000) {
  p = p - 1.0 * grad(squares)(p, x, y)
  steps += 1
}
# Where the sigmoid is flat the gradient of squares is small, however wrong the answer; cross entropy's is not.
print(all(round(net(p, x)[:, 0]) == y), steps < 20000)
# expect: true true
