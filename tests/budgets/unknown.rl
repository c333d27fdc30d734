# A loop that ends when it is done.
x0 = 1 + 0.5 * sin((0..5000) * 0.1)
fn f(x) { y = ones_like(x); n = 0; while (max(abs(y ^ 3 - x)) > 1e-3) { y = y - 0.05 * (y ^ 3 - x) / (1 + y * y); n = n + 1 }; sum(y * y) }
(y, g) = value_and_grad(f)(x0)
print(y, sum(g), max(g), g[17])
