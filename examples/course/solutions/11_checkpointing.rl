# Solutions of lesson 11: with s states and each step run at most t + 1 times, (s + t choose s) steps: s = 3, t = 2: 10.
fn step(h) = tanh(h) * 1.01
fn run(h, n) {
  checkpoint (slots = 3) < for (i in 0..n) { h = step(h) } >
  sum(h)
}
for (n in (10, 11)) {
  m = measure(fn() = grad(fn(h) = run(h, n))(ones(4)))
  print(n, m.snapshots_peak <= 3, m.steps)
}
# expect: 10 true 10
# expect: 11 true 11
