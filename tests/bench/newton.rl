# newton.rl: logistic regression with 50 parameters on 500 points, ten steps of Newton by Hessians.
import "./measure.rl" as m
import "linalg" as linalg

x = m.noise(1, (500, 50))
y = f64(x @ m.noise(2, (50,)) + m.noise(3, (500,)) > 0)

fn loss(w) = mean(bce_with_logits(x @ w, y)) + 0.01 * sum(w * w)

times = []
w = zeros(50)
for (run in 0..m.number(0, 3) + 1) {
  start = time()
  w = zeros(50)
  for (i in 0..10) { w = w - linalg.conjugate_gradient(hessian(loss)(w), grad(loss)(w)) }
  times = concat((times, [1000 * (time() - start)]))
}
m.report("newton", times, loss(w), sqrt(sum(w * w)))
