# newton.rl: logistic regression with 50 parameters on 500 points, ten steps of Newton by Hessians.
import "./measure.rl" as m

x = m.noise(1, (500, 50))
y = f64(x @ m.noise(2, (50,)) + m.noise(3, (500,)) > 0)

fn loss(w) = mean(bce_with_logits(x @ w, y)) + 0.01 * sum(w * w)

fn train() {
  w = zeros(50)
  for (i in 0..10) { w = w - solve(hessian(loss)(w), grad(loss)(w)) }
  (loss(w), w)
}
m.repeat("newton", train, m.norm_of, 3)
