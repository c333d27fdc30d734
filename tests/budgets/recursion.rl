# A function that calls itself, once.
x0 = sin((0..4000) * 0.1)
fn down(x, n) { if (n == 0) { return x }; y = sin(x) * 1.1; z = y * y + x; down(tanh(z) - 0.1 * y, n - 1) }
fn f(x) = sum(down(x, 40) ^ 2)
(y, g) = value_and_grad(f)(x0)
print(y, sum(g), max(g), g[17])
