# checkpoint (budget = B): the bytes born within the block, or within its adjoint, stay under B; values and
# gradients of every order are the same to the bit.
n = 10000
unit = 80000
x0 = sin((0..n) * 0.1)
fn plain(x, k) { for (i in 0..k) { x = sin(x) * 1.1 }; sum(x) }
fn limited(x, k) { checkpoint (budget = 2MB) < for (i in 0..k) { x = sin(x) * 1.1 } >; sum(x) }
a = measure(fn() = grad(plain)(x0, i64(300)))
b = measure(fn() = grad(limited)(x0, i64(300)))
assert(same(a.value, b.value))
assert(a.peak_bytes > 300 * unit)
assert(b.peak_bytes < 2000000 * 1.05 + 22 * unit, "the block's bytes, and what was there before")
assert(b.steps == 300)
assert(b.step_runs < 3 * 300)
# blocks with budgets within each other, in plain blocks and in loops with slots, and the other way round
fn two(x, k) {
  checkpoint (budget = 4MB) <
    for (i in 0..k) { x = sin(x) * 1.1 }
    checkpoint (budget = 1MB) < while (max(x) > 0.2) { x = cos(x) * x } >
  >
  sum(x)
}
fn two_plain(x, k) { for (i in 0..k) { x = sin(x) * 1.1 }; while (max(x) > 0.2) { x = cos(x) * x }; sum(x) }
assert(same(grad(two)(x0, i64(100)), grad(two_plain)(x0, i64(100))))
fn mixed(x, k) {
  checkpoint <
    checkpoint (slots = 3) < for (i in 0..k) { checkpoint (budget = 1MB) < for (j in 0..i) { x = sin(x) * 1.1 } > } >
    checkpoint (budget = 2MB) < checkpoint (slots = 2) < for (i in 0..k) { x = cos(x) * 0.9 } >; x = x * x >
  >
  sum(x)
}
fn mixed_plain(x, k) { for (i in 0..k) { for (j in 0..i) { x = sin(x) * 1.1 } }; for (i in 0..k) { x = cos(x) * 0.9 }; x = x * x; sum(x) }
assert(same(grad(mixed)(x0, i64(9)), grad(mixed_plain)(x0, i64(9))))
# recursion, records, random numbers, printing
fn tree(x, n) { if (n == 0) { return sin(x) * (1 + rand()) }; checkpoint (budget = 1MB) < y = tree(x * 1.1, n - 1) * tree(cos(x), n - 1) >; y }
fn tree_plain(x, n) { if (n == 0) { return sin(x) * (1 + rand()) }; y = tree_plain(x * 1.1, n - 1) * tree_plain(cos(x), n - 1); y }
fn at(f) { seed(4); grad(fn(x) = sum(f(x, 4)))(x0[0:1000]) }
assert(same(at(tree), at(tree_plain)))
fn talks(x) { checkpoint (budget = 1MB) < for (i in 0..2) { x = x * 2; print("step", i) } >; x }
print(grad(talks)(1.0))
# expect: step 0
# expect: step 1
# expect: 4
# derivatives of every order
small = x0[0:50]
fn g(x) = limited(x, i64(12))
fn p(x) = plain(x, i64(12))
assert(same(hvp(g, small, small), hvp(p, small, small)))
assert(same(grad(fn(x) = sum(grad(g)(x) ^ 2))(small), grad(fn(x) = sum(grad(p)(x) ^ 2))(small)))
assert(same(hessian(fn(x) = mixed(x, i64(4)))(small[0:4]), hessian(fn(x) = mixed_plain(x, i64(4)))(small[0:4])))
(y, back) = vjp(g, small)
(z, again) = vjp(p, small)
assert(same((back(1.0), back(-2.0)), (again(1.0), again(-2.0))))
