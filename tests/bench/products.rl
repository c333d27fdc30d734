# products.rl NAME [STEPS]: the matrix products of one step of mlp, rnn or transformer and its gradient, alone, each as
# often and of the size that the workload has: what no implementation that uses this machine's products can go
# below. Run with --float f32. Prints the median milliseconds of STEPS runs.
import "./measure.rl" as m

name = m.word(0, "mlp")
steps = m.number(1, 5)

# all_three(x, w): of y = x @ w the product itself, and those that x's and w's cotangents take.
fn all_three(x, w) {
  y = x @ w
  (y, y @ w', x' @ y)
}

fn mlp(x, w) {
  y = all_three(x, w)
  for (i in 1..64) { y = all_three(x, w) }
  y
}
# The inputs of rnn take no cotangent; those of its matrices are added up.
fn rnn(h, w) {
  (y, g, sums) = (h @ w, h @ w, (h' @ h, h' @ h))
  for (i in 0..1000) {
    y = h @ w + h @ w
    g = h @ w'
    sums = (sums[0] + h' @ g, sums[1] + h' @ y)
  }
  (y, g, sums)
}
# x: [2048, 256], hidden: [2048, 1024], q: [8, 4, 256, 64], attends: [8, 4, 256, 256].
fn layer(x, hidden, w, up, q, k, attends) {
  square = all_three(x, w)
  for (i in 1..4) { square = all_three(x, w) }
  (square, all_three(x, up), all_three(hidden, up'), all_three(q, k), all_three(attends, q))
}
fn transformer(x, hidden, w, up, q, k, attends) {
  y = layer(x, hidden, w, up, q, k, attends)
  for (i in 1..6) { y = layer(x, hidden, w, up, q, k, attends) }
  y
}

fn noise(shape) = m.noise(1, shape)
run = if (name == "mlp") {
  (x, w) = (noise((512, 512)), noise((512, 512)) / sqrt(512.0))
  fn() = mlp(x, w)
} else if (name == "rnn") {
  (x, w) = (noise((64, 256)), noise((256, 256)) / 16)
  fn() = rnn(x, w)
} else {
  (x, hidden, w, up) = (noise((2048, 256)), noise((2048, 1024)) / 32, noise((256, 256)) / 16, noise((256, 1024)) / 16)
  (q, k, attends) = (noise((8, 4, 256, 64)), noise((8, 4, 64, 256)) / 8, noise((8, 4, 256, 256)) / 16)
  fn() = transformer(x, hidden, w, up, q, k, attends)
}
times = []
run()
for (i in 0..steps) {
  start = time()
  run()
  times = concat((times, [1000 * (time() - start)]))
}
print(format("{} first_ms {:.3f} median_ms {:.3f}", name, times[0], median(times)))
