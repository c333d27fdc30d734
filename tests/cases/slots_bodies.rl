# Bodies of every kind under slots: the same values, gradients and printed lines as without.
seed(3)
d = 4
w = 0.3 * randn(d, d)
xs = randn(20, d)
fn check(name, plain, blocked, args) {
  seed(11)
  a = value_and_grad(plain)(args...)
  after = seed()
  seed(11)
  b = value_and_grad(blocked)(args...)
  assert(same(a, b), name)
  assert(same(after, seed()), name)
}
# several carried values, read by index
fn rnn(p, xs) { h = zeros(d); s = 0.0; for (t in 0..len(xs)) { h = tanh(p @ h + xs[t]); s = s + sum(h * h) }; s }
fn rnn_slots(p, xs) { h = zeros(d); s = 0.0; checkpoint (slots = 3) < for (t in 0..len(xs)) { h = tanh(p @ h + xs[t]); s = s + sum(h * h) } >; s }
check("several carried values", rnn, rnn_slots, (w, xs,))
fn rows(p, xs) { h = zeros(d); for (row in xs) { h = tanh(p @ h + row) }; sum(h) }
fn rows_slots(p, xs) { h = zeros(d); checkpoint (slots = 2) < for (row in xs) { h = tanh(p @ h + row) } >; sum(h) }
check("over rows", rows, rows_slots, (w, xs,))
check("by the data", fn(xs) = rows(w, xs), fn(xs) = rows_slots(w, xs), (xs,))
# states that are records
fn moving(p) {
  s = {x: ones(d), v: zeros(d), n: 0}
  for (t in 0..15) { s.v = s.v - 0.1 * (p @ s.x); s.x = s.x + 0.1 * s.v; s.n = s.n + 1 }
  sum(s.x * s.x) + s.n
}
fn moving_slots(p) {
  s = {x: ones(d), v: zeros(d), n: 0}
  checkpoint (slots = 3) < for (t in 0..15) { s.v = s.v - 0.1 * (p @ s.x); s.x = s.x + 0.1 * s.v; s.n = s.n + 1 } >
  sum(s.x * s.x) + s.n
}
check("records", moving, moving_slots, (w,))
# random numbers, also in a branch
fn noise(p) { h = ones(d); for (t in 0..17) { h = tanh(p @ h + randn(d)); if (sum(h) > 0) { h = h * rand() } }; sum(h) }
fn noise_slots(p) { h = ones(d); checkpoint (slots = 3) < for (t in 0..17) { h = tanh(p @ h + randn(d)); if (sum(h) > 0) { h = h * rand() } } >; sum(h) }
check("random", noise, noise_slots, (w,))
# early ends
fn leaves(p, lim) { h = ones(d); for (t in 0..50) { h = tanh(p @ h + 0.1); if (t > 5 and sum(h) < lim) { break }; if (t == 3) { continue }; h = h * 1.01 }; sum(h) }
fn leaves_slots(p, lim) { h = ones(d); checkpoint (slots = 4) < for (t in 0..50) { h = tanh(p @ h + 0.1); if (t > 5 and sum(h) < lim) { break }; if (t == 3) { continue }; h = h * 1.01 } >; sum(h) }
check("break and continue", leaves, leaves_slots, (w, 2.0,))
check("never left", leaves, leaves_slots, (w, -100.0,))
fn returns(x) { for (t in 0..30) { x = sin(x) * 1.2; if (x < 0.4) { return x * t } }; x }
fn returns_slots(x) { checkpoint (slots = 2) < for (t in 0..30) { x = sin(x) * 1.2; if (x < 0.4) { return x * t } } >; x }
for (x in (0.1, 0.9, 2.0)) { check("return", returns, returns_slots, (x,)) }
# a solver
fn root(a) { y = a; while (abs(y * y - a) > 1e-12) { y = (y + a / y) / 2 }; y }
fn root_slots(a) { y = a; checkpoint (slots = 2) < while (abs(y * y - a) > 1e-12) { y = (y + a / y) / 2 } >; y }
check("solver", root, root_slots, (7.0,))
# in place updates
fn fills(x) { a = zeros(10); for (i in 0..10) { a[i] = x * i; x = x + a[i] * 0.1 }; sum(a * a) + x }
fn fills_slots(x) { a = zeros(10); checkpoint (slots = 3) < for (i in 0..10) { a[i] = x * i; x = x + a[i] * 0.1 } >; sum(a * a) + x }
check("update by index", fills, fills_slots, (0.7,))
fn swaps(x) { y = x * 2; for (i in 0..9) { (x, y) = (y * 1.1, x + 0.5) }; x - y * y }
fn swaps_slots(x) { y = x * 2; checkpoint (slots = 2) < for (i in 0..9) { (x, y) = (y * 1.1, x + 0.5) } >; x - y * y }
check("swap", swaps, swaps_slots, (0.7,))
# tuples that grow, functions as state, values not read again
fn grows(x) { t = (); for (i in 0..8) { t = append(t, x * i); x = x + sin(t[i]); last = x * x }; t[3] * t[7] + last }
fn grows_slots(x) { t = (); checkpoint (slots = 2) < for (i in 0..8) { t = append(t, x * i); x = x + sin(t[i]); last = x * x } >; t[3] * t[7] + last }
check("tuple", grows, grows_slots, (0.7,))
fn chosen(x) { f = fn(y) = sin(y) * x; for (i in 0..7) { g = f; f = if (i % 2 == 0) { fn(y) = g(y) + x } else { fn(y) = cos(y) * x } }; f(x) }
fn chosen_slots(x) { f = fn(y) = sin(y) * x; checkpoint (slots = 2) < for (i in 0..7) { g = f; f = if (i % 2 == 0) { fn(y) = g(y) + x } else { fn(y) = cos(y) * x } } >; f(x) }
check("functions", chosen, chosen_slots, (0.7,))
# calls, recursion, loops, blocks and slots inside
fn tree(x, n) = if (n == 0) { sin(x) } else { tree(x * 1.1, n - 1) + tree(cos(x), n - 1) }
fn calls(x) { for (i in 0..6) { x = tree(x, 3) * 0.1; for (k in 0..i) { x = x + sin(x) * 0.1 } }; x }
fn calls_slots(x) { checkpoint (slots = 2) < for (i in 0..6) { x = tree(x, 3) * 0.1; for (k in 0..i) { x = x + sin(x) * 0.1 } } >; x }
check("calls", calls, calls_slots, (0.7,))
fn nested(x) { for (i in 0..6) { checkpoint < x = sin(x) * 1.1; x = x + cos(x) >; checkpoint (slots = 2) < for (k in 0..i) { x = x + sin(x) * 0.1 } > }; x }
fn nested_slots(x) { checkpoint (slots = 2) < for (i in 0..6) { checkpoint < x = sin(x) * 1.1; x = x + cos(x) >; checkpoint (slots = 2) < for (k in 0..i) { x = x + sin(x) * 0.1 } > } >; x }
fn nested_plain(x) { for (i in 0..6) { x = sin(x) * 1.1; x = x + cos(x); for (k in 0..i) { x = x + sin(x) * 0.1 } }; x }
check("nested", nested_plain, nested, (0.7,))
check("nested slots", nested_plain, nested_slots, (0.7,))
fn around(x) { checkpoint < y = x * 2; checkpoint (slots = 3) < for (i in 0..11) { x = sin(x) * y } >; z = x * y >; z }
fn around_plain(x) { y = x * 2; for (i in 0..11) { x = sin(x) * y }; x * y }
check("inside a block", around_plain, around, (0.7,))
fn down(x, n) { if (n == 0) { return x }; checkpoint (slots = 2) < for (i in 0..3) { x = down(x, n - 1) * 0.9 + sin(x) } >; x }
fn down_plain(x, n) { if (n == 0) { return x }; for (i in 0..3) { x = down_plain(x, n - 1) * 0.9 + sin(x) }; x }
check("recursion", down_plain, down, (0.7, 3,))
# captured functions, an unused result, an integer state, nothing active
fn captured(x) { f = fn(y) = y * x; for (i in 0..5) { x = f(x) * 0.5 }; x }
fn captured_slots(x) { f = fn(y) = y * x; checkpoint (slots = 2) < for (i in 0..5) { x = f(x) * 0.5 } >; x }
check("captured", captured, captured_slots, (0.7,))
fn unused(x) { y = x; checkpoint (slots = 2) < for (i in 0..5) { y = y * x } >; x * 2 }
check("unused", fn(x) = x * 2, unused, (0.7,))
fn ints(x) { k = 0; checkpoint (slots = 2) < for (i in 0..9) { k = k + i } >; x * k }
check("whole numbers", fn(x) = x * 36, ints, (0.7,))
# every number of slots for short loops
fn short1(x, n) { checkpoint (slots = 1) < for (i in 0..n) { x = sin(x) * x } >; x }
fn short2(x, n) { checkpoint (slots = 2) < for (i in 0..n) { x = sin(x) * x } >; x }
fn short3(x, n) { checkpoint (slots = 3) < for (i in 0..n) { x = sin(x) * x } >; x }
fn short4(x, n) { checkpoint (slots = 4) < for (i in 0..n) { x = sin(x) * x } >; x }
fn short(x, n) { for (i in 0..n) { x = sin(x) * x }; x }
for (n in 0..3) { for (f in (short1, short2, short3, short4)) { check("short", short, f, (0.7, n)) } }
# printing once, in order
fn talks(x) { checkpoint (slots = 2) < for (i in 0..4) { x = x * 2; print("step", i) } >; x }
print(grad(talks)(1.0))
# expect: step 0
# expect: step 1
# expect: step 2
# expect: step 3
# expect: 16
# an error in the loop is caught outside, and the next gradient is whole
fn fails(x, n) { checkpoint (slots = 2) < for (i in 0..6) { x = x * 2; assert(i < n, "too far") } >; x }
r = try(fn() = grad(fails)(1.0, 3))
print(grad(fails)(1.0, 9))      # expect: 64
