# measure.rl: what the workloads share. gradient(name, loss, p) takes the gradient of loss at p once, then as
# often as the first argument of the program says (5 without one), and prints one line: the name, the
# milliseconds of the first step, the median of the others, the loss, the norm of the gradient.

# The k-th argument of the program as a whole number.
fn number(k, otherwise) {
  if (len(args()) <= k) { return otherwise }
  n = i64(0)
  for (digit in ord(args()[k])) { n = 10 * n + digit - 48 }
  n
}

# noise(k, shape): the k-th array of numbers of mean 0 and variance 1 that a peer can make as well, exactly.
fn noise(k, shape) {
  n = 1
  for (d in shape) { n = n * d }
  i = 0..n
  u = (i * i * 12345 + i * 2654435 + 97 * k + 1) % 2147483647 / 2147483647.0
  x = reshape((f64(u) - 0.5) * sqrt(12.0), shape)
  if (dtype([0.0]) == "f32") { f32(x) } else { x }
}

# norm_of(g): of all numbers in g together.
fn norm_of(g) = sqrt(sum(f64(flatten(g)) ^ 2))

fn gradient(name, loss, p) {
  both = value_and_grad(loss)
  times = []
  for (i in 0..number(0, 5) + 1) {
    start = time()
    r = both(p)
    times = concat((times, [1000 * (time() - start)]))
    result = r
  }
  report(name, times, result[0], norm_of(result[1]))
}

fn report(name, times, loss, norm) {
  rest = if (len(times) > 1) { times[1:] } else { times }
  print(format("{} first_ms {:.3f} median_ms {:.3f} loss {:.9e} gradient {:.9e}", name, times[0], median(rest), f64(loss), f64(norm)))
}
