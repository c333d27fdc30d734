# options: --no-optimise
# Step executions and states held under slots: exactly t(l, s) + l + 1 for loops of known length, with
# t(l, s) = min over m of m + t(m, s) + t(l - m, s - 1).
fn least(most, s) {
  t = zeros(s + 1, most + 1)
  for (k in 1..s + 1) {
    for (l in 2..most + 1) {
      best = inf
      if (k == 1) { best = l * (l - 1) / 2 } else {
        for (m in 1..l) { best = minimum(best, m + t[k, m] + t[k - 1, l - m]) }
      }
      t[k, l] = best
    }
  }
  t
}
fn plain(x, n) { for (i in 0..n) { x = sin(x) * 1.1 }; x }
fn s1(x, n) { checkpoint (slots = 1) < for (i in 0..n) { x = sin(x) * 1.1 } >; x }
fn s2(x, n) { checkpoint (slots = 2) < for (i in 0..n) { x = sin(x) * 1.1 } >; x }
fn s3(x, n) { checkpoint (slots = 3) < for (i in 0..n) { x = sin(x) * 1.1 } >; x }
fn s5(x, n) { checkpoint (slots = 5) < for (i in 0..n) { x = sin(x) * 1.1 } >; x }
fn s8(x, n) { checkpoint (slots = 8) < for (i in 0..n) { x = sin(x) * 1.1 } >; x }
t = least(40, 8)
for ((f, s) in ((s1, 1), (s2, 2), (s3, 3), (s5, 5), (s8, 8))) {
  for (l in 0..41) {
    r = measure(fn() = value_and_grad(f)(0.7, l))
    assert(same(r.value, value_and_grad(plain)(0.7, l)), "the same value and gradient")
    assert(r.steps == l)
    assert(r.step_runs == (if (l == 0) { 0 } else { t[s, l] + l + 1 }), "t(l, s) + l + 1")
    assert(r.snapshots_peak == (if (l == 0) { 0 } else { minimum(s, l - 1) }), "states held")
  }
}
# the table of the literature
fn r10(x, n) { checkpoint (slots = 10) < for (i in 0..n) { x = sin(x) * 1.1 } >; x }
fn r7(x, n) { checkpoint (slots = 7) < for (i in 0..n) { x = sin(x) * 1.1 } >; x }
fn runs(f, n) = measure(fn() = grad(f)(0.7, n)).step_runs
print(runs(s1, 10), runs(s3, 10), runs(r7, 50), runs(s5, 100), runs(r10, 250), runs(r10, 1000))   # expect: 56 26 156 417 923 4637
# without a gradient a block with slots is its loop
print(measure(fn() = s3(0.7, 10)).step_runs)   # expect: 0
# unknown length: the bounds of the online schedule
fn w3(x, n) { i = 0; checkpoint (slots = 3) < while (i < n) { x = sin(x) * 1.1; i = i + 1 } >; x }
fn w4(x, n) { i = 0; checkpoint (slots = 4) < while (i < n) { x = sin(x) * 1.1; i = i + 1 } >; x }
fn w10(x, n) { i = 0; checkpoint (slots = 10) < while (i < n) { x = sin(x) * 1.1; i = i + 1 } >; x }
print(runs(w4, 14), runs(w3, 100), runs(w10, 100), runs(w10, 500), runs(w10, 1000))   # expect: 37 618 324 2137 4739
for ((f, s) in ((w3, 3), (w4, 4), (w10, 10))) {
  for (l in 0..41) {
    r = measure(fn() = value_and_grad(f)(0.7, l))
    assert(same(r.value, value_and_grad(plain)(0.7, l)), "the same value and gradient")
    assert(r.steps == l)
    assert(r.snapshots_peak <= s)
  }
}
# a for that can be left early is scheduled as a while
fn early(x, n) { checkpoint (slots = 4) < for (i in 0..1000) { if (i == n) { break }; x = sin(x) * 1.1 } >; x }
fn early_plain(x, n) { for (i in 0..1000) { if (i == n) { break }; x = sin(x) * 1.1 }; x }
for (l in 0..30) {
  r = measure(fn() = value_and_grad(early)(0.7, l))
  assert(same(r.value, value_and_grad(early_plain)(0.7, l)), "the same value and gradient")
  assert(r.snapshots_peak <= 4)
}
