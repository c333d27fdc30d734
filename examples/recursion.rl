# recursion.rl: checkpointing by halves. Each half is halved again, the first one in a block: a gradient
# of n steps keeps about log2(n) states, and pays with about n / 2 * log2(n / 2) steps made again.

fn step(x) = x + 0.01 * sin(3 * x) * cos(x)

# n steps from x; n is a power of two.
fn run(x, n) {
  if (n <= 2) {
    for (i in 0..n) { x = step(x) }
    return x
  }
  middle = checkpoint < run(x, n // 2) >
  run(middle, n // 2)
}

fn plain(x, n) {
  for (i in 0..n) { x = step(x) }
  x
}

print("steps  again  derivative        same bits as plain")
for (n in i64([4, 8, 16, 32, 64, 1024])) {
  m = measure(fn() = grad(run)(0.7, n))
  print(format("{:5d} {:6d}  {:.10f}      {}", n, m.step_runs - m.steps, m.value, same(m.value, grad(plain)(0.7, n))))
}

# expect: steps  again  derivative        same bits as plain
# expect:     4      2  0.9315201979      true
# expect:     8      8  0.8642106103      true
# expect:    16     24  0.7376380306      true
# expect:    32     64  0.5296995611      true
# expect:    64    160  0.2769504705      true
# expect:  1024   4608  0.0000001017      true
