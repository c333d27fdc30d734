# options: --budget 300KB
# A nest whose inner counts depend on data, 23,684 inner steps at its longest (26,887 with the outer ones): under one
# budget the peak is the same for every length, and steps are executed little more than three times on average.
# The gradients expected are those of a run without a budget, where the peaks are 0.4, 2, 10 and 50 MB.
fn count(i, l, phi) = i64(2^(floor(log2(l)) - floor(log2(1 + (1013 * floor(3^phi) * i) % l))))
fn nest(x, phi, l) {
  for (i in 1..l + 1) {
    m = count(i, l, phi)
    for (j in 0..m) { x = x + sin(x) * 0.001 }
  }
  sum(x)
}
x = sin((0..250) * 0.1)
peaks = ()
for (l in (i64(53), i64(203), i64(803), i64(3203))) {
  r = measure(fn() = grad(nest)(x, 1.0, l))
  print(l, r.steps, r.step_runs <= 3.5 * r.steps, r.value[1], r.value[249])
  peaks = append(peaks, r.peak_bytes)
}
# expect: 53 235 true 1.1981980630330802 1.1925862301461758
# expect: 203 1175 true 2.6032438172229 2.448364057033556
# expect: 803 5703 true 2.930416171660562 0.560483965526867
# expect: 3203 26887 true 2.063611545160022e-8 3.876919056703952e-9
print(max(stack(peaks)) <= 1.1 * min(stack(peaks)), max(stack(peaks)) <= 300000)   # expect: true true
