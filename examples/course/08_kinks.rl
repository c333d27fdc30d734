# Lesson 8: kinks, and where a NaN comes from. Text: 08_kinks.md
# At a kink there is no derivative; there is a smallest subgradient.
print(grad(abs)(0.0), grad(relu)(0.0), grad(fn(v) = maximum(v, v))(1.0))
# expect: 0 0 1
print(grad(max)([1.0, 2.0, 2.0]))
# expect: [0, 0.5, 0.5]

# sqrt has slope inf at 0. A guard with where() works, because a cotangent of 0 stays 0.
fn guarded(x) = sum(where(x > 0, sqrt(x), 0 * x))
print(grad(guarded)([4.0, 0.0]))
# expect: [0.25, 0]

# 0 * inf is NaN in arithmetic: this one has no guard.
print(isnan(0.0 * inf), isnan(sqrt(-1.0)))
# expect: true true

# The numerically stable way to write a function is also the one with the right gradient.
fn naive(x) = log(1 + exp(x))
print(naive(1000.0), grad(naive)(1000.0), softplus(1000.0), grad(softplus)(1000.0))
# expect: inf 0 1000 1
