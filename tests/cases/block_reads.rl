# What a block reads, updates and leaves.
# it updates what it read, once
fn inc(x) { checkpoint < x = x + 1 >; checkpoint < x = x * x >; x }
print(inc(2.0), grad(inc)(2.0))                                     # expect: 9 6
# it reads y[t] by the loop's variable and its body only assigns outer names
fn sequence(y) { h = 0.0; for (t in 0..len(y)) { checkpoint < h = sin(h) + y[t] > }; h }
fn sequence_plain(y) { h = 0.0; for (t in 0..len(y)) { h = sin(h) + y[t] }; h }
assert(same(value_and_grad(sequence)([0.1, 0.2, 0.7]), value_and_grad(sequence_plain)([0.1, 0.2, 0.7])))
# it ends in an update by index
fn fills(x) { a = zeros(3); for (t in 0..3) { checkpoint < a[t] = x * t; a[0] += x > }; sum(a * [1, 10, 100]) }
print(fills(1.0), grad(fills)(1.0))                                 # expect: 213 213
fn field(p) { checkpoint < p.w[1] = p.w[0] * 2; p.n = p.n + 1 >; sum(p.w) * p.n }
print(grad(field)({w: [3, 4], n: i64(1)}).w)                        # expect: [6, 0]
# only what it captured matters; no input is active
fn captured(w) { f = fn() = sum(w * w); y = checkpoint < f() >; y }
print(grad(captured)([1, 2]))                                       # expect: [2, 4]
# a captured value used only linearly; a captured function
print(grad(fn(w) = checkpoint < sum(w * 3) >)([1, 2]))              # expect: [3, 3]
fn through(f, x) = checkpoint < f(x) + f(x * 2) >
print(grad(fn(a) = through(fn(v) = v * a, 5.0))(1.0))               # expect: 15
# a parameter inside and outside, and in two blocks
fn shared(w) { a = checkpoint < w * w >; b = checkpoint < w * a >; a + b + w }
print(grad(shared)(2.0))                                            # expect: 17
# outputs: unused, constant, passed through, the same twice, integers and bools
fn outputs(x) {
  checkpoint < a = x; b = 4.0; c = x * x; d = c; e = i64(3); f = ((x > 0) and (x < 100)); g = sin(x) >
  if (f) { a + b + d * e } else { 0.0 }
}
print(outputs(2.0), grad(outputs)(2.0))                             # expect: 18 13
fn idle(x) { checkpoint < y = exp(x) >; checkpoint < none >; x * 2 }
print(grad(idle)(1.0))                                              # expect: 2
# carried by a loop with a block: integers, bools, records, a swap
fn carried(x) {
  k = i64(0); on = true; r = {v: x, n: i64(1)}; b = x * x
  for (i in 0..5) {
    checkpoint <
      if (on) { r.v = r.v * x; k += 1 }
      r.n = r.n + k
      on = not on
      (b, r.v) = (r.v, b)
      (b, r.v) = (r.v, b)
    >
  }
  r.v + r.n
}
print(carried(2.0), grad(carried)(2.0))                             # expect: 26 32
# leaving it by break, continue and return
fn leaves(x, how) {
  s = 0.0
  for (i in 0..5) {
    checkpoint <
      s += x^i
      if (i == 2 and how == "break") { break }
      if (i == 1 and how == "continue") { continue }
      if (i == 3 and how == "return") { return s * 100 }
      s *= 2
    >
  }
  s
}
print(leaves(1.0, "break"), grad(leaves)(1.0, "break"))             # expect: 7 4
print(leaves(1.0, "continue"), grad(leaves)(1.0, "continue"))       # expect: 38 44
print(leaves(1.0, "return"), grad(leaves)(1.0, "return"))           # expect: 1500 1100
# in a solver's loop with an early exit
fn root(a) { y = a; for (i in 0..100) { checkpoint < z = (y + a / y) / 2; if (abs(z - y) < 1e-15) { break }; y = z > }; y }
fn root_plain(a) { y = a; for (i in 0..100) { z = (y + a / y) / 2; if (abs(z - y) < 1e-15) { break }; y = z }; y }
assert(same(value_and_grad(root)(2.0), value_and_grad(root_plain)(2.0)))
# a branch on floats, and sizes that depend on data
fn branches(x) { checkpoint < y = if (sum(x) > 0.3) { sum(x[x > 0] * 2) } else { sum(x) } >; y * y }
print(grad(branches)([1, -0.5]), grad(branches)([-1, 0.5]))         # expect: [8, 0] [-1, -1]
# after a return, and loops of length 0 and 1
fn counts(x, n) { y = x; for (i in 0..n) { checkpoint < y = y * y > }; y }
print(grad(counts)(3.0, 0), grad(counts)(3.0, 1), grad(counts)(3.0, 2))  # expect: 1 6 108
