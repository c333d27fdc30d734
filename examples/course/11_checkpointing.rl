# Lesson 11: checkpointing: one block, square root, recursive, binomial. Text: 11_checkpointing.md
seed(1)
n = 64
w = randn(16, 16) / 5
h0 = randn(16)
fn step(w, h) = tanh(w @ h)

fn plain(w, h) { for (i in 0..n) { h = step(w, h) }; sum(h * h) }
# Groups of sqrt(n): the entries of 8 groups, and the steps of one.
fn groups(w, h) {
  for (i in 0..8) { checkpoint < for (j in 0..8) { h = step(w, h) } > }
  sum(h * h)
}
# Halves of halves: log2(n) states, each step run log2(n) times.
fn halves(w, h, k) {
  if (k == 1) { return step(w, h) }
  checkpoint < h = halves(w, h, k // 2) >
  halves(w, h, k - k // 2)
}
fn recursive(w, h) { h = halves(w, h, n); sum(h * h) }
# The least number of steps for a given number of states: Revolve.
fn binomial(w, h) {
  checkpoint (slots = 4) < for (i in 0..n) { h = step(w, h) } >
  sum(h * h)
}

g = grad(plain)(w, h0)
print(same(g, grad(groups)(w, h0)), same(g, grad(binomial)(w, h0)))
# expect: true true
# The recursion adds the parts of the gradient of w in the order of its tree: another program, another rounding.
print(norm(g - grad(recursive)(w, h0)) < 1e-12 * norm(g))
# expect: true

fn cost(f) = measure(fn() = grad(f)(w, h0))
all = cost(plain)
some = cost(groups)
few = cost(binomial)
print(some.saved_peak_bytes < all.saved_peak_bytes / 2, few.saved_peak_bytes < some.saved_peak_bytes)
# expect: true true
print(all.step_runs, some.step_runs > all.step_runs, few.snapshots_peak <= 4)
# expect: 64 true true
