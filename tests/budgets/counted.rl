# A loop of known length over a vector.
x0 = sin((0..5000) * 0.1)
fn f(x) { for (i in 0..200) { x = sin(x) * 1.1 + 0.1 * x }; sum(x * x) }
(y, g) = value_and_grad(f)(x0)
print(y, sum(g), max(g), g[17])
