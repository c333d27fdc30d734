# pow_slope.rl: the derivative of x ^ e has the same bits whether e is one number or an array of it.
seed(1)
x = concat((randn(1000), [0.0, -0.0, inf, -inf, 1e300, 1e-300]))
fine = true
for (e in (2, 3, 4, 5, 1, 0, -1, -2, 0.5)) {
  all = zeros(len(x)) + e
  one = fn(x) = sum(x ^ e)
  fine = fine and same(grad(one)(x), grad(fn(x) = sum(x ^ all))(x))
  fine = fine and same(grad(one)(f32(x)), grad(fn(x) = sum(x ^ f32(all)))(f32(x)))
  fine = fine and same(grad(one)(x[0:3]), grad(one)(x)[0:3]) and same(grad(fn(t) = t ^ e)(x[5]), grad(one)(x)[5])
}
print(fine)
# expect: true
