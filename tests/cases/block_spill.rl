# `spill`: states and kept values on disk. Same bits, same steps, less memory.
x0 = sin((0..10000) * 0.1)
unit = 80000
fn plain(x, k) { for (i in 0..k) { x = sin(x) * 1.1 }; sum(x) }
fn slots(x, k) { checkpoint (slots = 12) < for (i in 0..k) { x = sin(x) * 1.1 } >; sum(x) }
fn disk(x, k) { checkpoint (slots = 12, spill = true) < for (i in 0..k) { x = sin(x) * 1.1 } >; sum(x) }
a = measure(fn() = grad(slots)(x0, i64(200)))
b = measure(fn() = grad(disk)(x0, i64(200)))
assert(same(grad(plain)(x0, i64(200)), a.value) and same(a.value, b.value))
print(a.step_runs == b.step_runs, a.snapshots_peak, b.snapshots_peak)        # expect: true 12 12
print(a.peak_bytes > 14 * unit, b.peak_bytes < 7 * unit)                    # expect: true true
# of a length that is not known
fn until(x) { checkpoint (slots = 5, spill = true) < while (max(x) > 0.5) { x = x - 0.01 * x * x } >; sum(x) }
fn until_plain(x) { while (max(x) > 0.5) { x = x - 0.01 * x * x }; sum(x) }
assert(same(grad(until)(x0), grad(until_plain)(x0)))
# states that are records, with small parts and numbers of any kind
fn step(s) = {x: sin(s.x) * 1.1, y: (s.y[0] + 1, s.x[0:10]), n: s.n + 1}
fn start(x) = {x: x, y: (x[0:3], x[0:10]), n: i64(0)}
fn parts(x, k) { s = start(x); checkpoint (slots = 4, spill = true) < for (i in 0..k) { s = step(s) } >; sum(s.x) + sum(s.y[0] * s.y[1][0:3]) * s.n }
fn parts_plain(x, k) { s = start(x); for (i in 0..k) { s = step(s) }; sum(s.x) + sum(s.y[0] * s.y[1][0:3]) * s.n }
assert(same(grad(parts)(x0, i64(40)), grad(parts_plain)(x0, i64(40))))
# random numbers, second derivatives, a pullback that is called twice
fn noisy(x, k) { checkpoint (slots = 3, spill = true) < for (i in 0..k) { x = sin(x) + 0.1 * randn(10000) } >; sum(x * x) }
fn noisy_plain(x, k) { for (i in 0..k) { x = sin(x) + 0.1 * randn(10000) }; sum(x * x) }
fn seeded(f) { seed(3); f(x0, i64(30)) }
assert(same(seeded(grad(noisy)), seeded(grad(noisy_plain))))
assert(same(hvp(fn(x) = disk(x, i64(20)), x0, x0), hvp(fn(x) = plain(x, i64(20)), x0, x0)))
(y, back) = vjp(fn(x) = disk(x, i64(50)), x0)
assert(same(back(1.0), back(1.0)) and same(back(1.0), grad(plain)(x0, i64(50))))
# what a block's policy keeps
w = sin(reshape(0..10000, 100, 100)) * 0.1
fn dots(x, w, n) { for (i in 0..n) { checkpoint (save = "dots", spill = true) < x = tanh(sin(x @ w) @ w) > }; sum(x) }
fn dots_plain(x, w, n) { for (i in 0..n) { x = tanh(sin(x @ w) @ w) }; sum(x) }
m = reshape(x0, 100, 100)
assert(same(grad(dots, wrt = (0, 1))(m, w, i64(10)), grad(dots_plain, wrt = (0, 1))(m, w, i64(10))))
# under a budget: states that are far apart go to disk
fn tight(x, k) { checkpoint (budget = 400KB) < for (i in 0..k) { x = sin(x) * 1.1 } >; sum(x) }
fn spilled(x, k) { checkpoint (budget = 400KB, spill = true) < for (i in 0..k) { x = sin(x) * 1.1 } >; sum(x) }
a = measure(fn() = grad(tight)(x0, i64(200)))
b = measure(fn() = grad(spilled)(x0, i64(200)))
assert(same(a.value, b.value) and same(a.value, grad(plain)(x0, i64(200))))
print(b.step_runs < a.step_runs)                                            # expect: true
