# What runs a function more than once prints once, and gives it the same random numbers each time.
fn f(x) { print("f"); x * x * randn(3) }
fn s(x) { print("s"); sum(x * x * randn(3)) }
fn wide(x) { print("w"); [x, x * x, x * rand()] }
x = [1, 2, 3]

seed(5)
j = jacobian(f)(x)                              # expect: f
after = rand()
seed(5)
n = randn(3)
print(same(diag(j), 2 * x * n), after == rand()) # expect: true true

seed(5)
h = hessian(s)(x)                               # expect: s
print(max(abs(diag(h) - 2 * n)) < 1e-12)        # expect: true
after = rand()
seed(5)
n = randn(3)
print(after == rand())                          # expect: true

seed(5)
j = jacobian(wide)(2)                           # expect: w
seed(5)
print(same(j, [1, 4, rand()]))                  # expect: true

print(check_grad(s, x).worst < 1e-6)            # expect: s
                                                # expect: true
print(hvp(s, x, x)[0] != 0)                     # expect: s
                                                # expect: true

# Once, too, where all that happens in a block or under another derivative; and output is back after an error.
fn outer(a) {
  checkpoint < h = hessian(s)(a * [1, 1, 1]) >
  sum(h * h)
}
g = grad(outer)(2.0)                            # expect: s
(v, m) = try(hessian, fn(x) = x)
fn fails(x) { if (seed()[1] > 0) { error("late") }; sum(x * x) }
(v, m) = try(fn() = check_grad(fn(x) { print("c"); if (x[0] > 1) { error("late") }; sum(x) }, [1, 1]))
                                                # expect: c
print(m)                                        # expect: late
