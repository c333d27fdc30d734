# Lesson 8: kinks, and where a NaN comes from. Text: 08_kinks.md
# At a kink there is no derivative; there is a smallest subgradient.
print(grad(abs)(1.0), grad(relu)(0.0), grad(fn(v) = maximum(v, v))(1.0))
# expect: 0 0 1
print(grad(max)([1.0, 2.0, 2.0]))
# expect: [0, 0.5, 0.5]

# sqrt has slope inf at 0. A guard with where() works, because a cotangent of 0 stays 0.
fn guarded(x) = sum(where(x > 0, sqrt(x), 0 * x))


# expect: inf 0 1000 1
