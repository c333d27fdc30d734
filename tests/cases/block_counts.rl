# options: --no-optimise
# How often the body of a block runs: nested d deep it executes d + 1 times in one gradient. Loop bodies
# of one iteration are what is counted.
fn step(x) { for (i in 0..1) { x = sin(x) }; x }
fn d0(x) = step(x)
fn d1(x) { checkpoint < y = step(x) >; y }
fn d2(x) { checkpoint < checkpoint < y = step(x) > >; y }
fn d3(x) { checkpoint < checkpoint < checkpoint < y = step(x) > > >; y }
fn runs(f) = measure(fn() = grad(f)(0.5)).step_runs
print(runs(d0), runs(d1), runs(d2), runs(d3))   # expect: 1 2 3 4
print(measure(fn() = grad(d3)(0.5)).steps)      # expect: 1
# recursive halving: f1(checkpoint < f2 >), both halves recursive, a half of two steps not split
fn halves(x, n) {
  if (n == 2) { return step(step(x)) }
  y = checkpoint < halves(x, n // 2) >
  halves(y, n // 2)
}
fn again(n) { r = measure(fn() = grad(halves)(0.5, n)); r.step_runs - r.steps }
print(again(i64(4)), again(i64(8)), again(i64(16)))   # expect: 2 8 24
# a block in a loop: each once more
fn looped(x, n) { for (t in 0..n) { checkpoint < x = step(x) > }; x }
r = measure(fn() = grad(looped)(0.5, i64(10)))
print(r.steps, r.step_runs)                     # expect: 20 30
# without a gradient nothing runs again, and nothing counts
print(measure(fn() = looped(0.5, i64(10))).step_runs)  # expect: 0
# a pullback called twice replays twice
(y, back) = vjp(d1, 0.5)
print(measure(fn() = (back(1.0), back(2.0))).step_runs)  # expect: 2
