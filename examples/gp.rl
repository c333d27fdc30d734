# gp.rl: a Gaussian process fitted by the gradient of its likelihood: how long, how high and how noisy a curve is.

import "optim" as optim
import "linalg" as linalg

seed(4)
x = sort(rand(40) * 10)
y = sin(x) + 0.2 * randn(40)

# The covariance of values at a and b: near points are alike over the distance exp(p[0]).
fn kernel(p, a, b) = exp(2 * p[1]) * exp(-(a[:, none] - b[none, :]) ^ 2 / (2 * exp(2 * p[0])))
fn covariance(p) = kernel(p, x, x) + (exp(2 * p[2]) + 1e-8) * eye(len(x))

# Minus the log likelihood of y (but for a constant).
fn loss(p) {
  k = covariance(p)
  (dot(y, solve(k, y)) + logdet(k)) / 2
}

fit = optim.lbfgs(loss, [0.0, 0.0, -1.0])
p = fit.p
print(format("loss {:.3f} to {:.3f}", loss([0.0, 0.0, -1.0]), fit.value))
print(format("length {:.2f}, height {:.2f}, noise {:.3f}", exp(p[0]), exp(p[1]), exp(p[2])))

# What it says between the points, and how sure it is.
at = linspace(0, 10, 101)
l = cholesky(covariance(p))
across = kernel(p, at, x)
guess = across @ linalg.cholesky_solve(l, y)
spread = sqrt(exp(2 * p[1]) - sum(solve_triangular(l, across', lower = true) ^ 2, axis = 0))
print(format("largest error against sin(x): {:.2f}; within two spreads: {:.0%}", max(abs(guess - sin(at))), mean(abs(guess - sin(at)) < 2 * spread)))
plot((at, at, at, x), (guess, guess + 2 * spread, guess - 2 * spread, y), labels = ("mean", "two spreads", none, "data"),
     style = ("-", "--", "--", "o"), title = "A Gaussian process")

# expect: loss -17.824 to -26.191
# expect: length 1.23, height 0.76, noise 0.213
# expect: largest error against sin(x): 0.<*>; within two spreads: <*>%
