# A function that calls itself, twice.
x0 = sin((0..4000) * 0.1)
fn tree(x, n) { if (n == 0) { return sin(x) * x }; a = tree(x * 1.1, n - 1); b = tree(cos(x), n - 1); tanh(a) * b + a }
fn f(x) = sum(tree(x, 6))
(y, g) = value_and_grad(f)(x0)
print(y, sum(g), max(g), g[17])
