# Solutions of lesson 1.
fn g(x) = sin(x^2)
for (x in [0.0, 0.7, -2.0]) { assert(abs(grad(g)(x) - 2 * x * cos(x^2)) < 1e-12, "the chain rule") }
print("right")
# expect: right
