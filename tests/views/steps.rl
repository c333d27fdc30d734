# A loop of steps, replayed in four groups.
fn step(w, h) = tanh(w @ h)
fn run(w, h) {
  for (i in 0..4) { checkpoint < for (j in 0..4) { h = step(w, h) } > }
  sum(h * h)
}
seed(2)
w = randn(30, 30) / 6; h = randn(30)
print(norm(grad(run)(w, h)))
