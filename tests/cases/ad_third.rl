# Third derivatives by both arguments, where a direction does not reach what a builtin is given: the last one in
# reverse is that in forward mode.
w = [0.7, 0.2]
x = [0.4, 1.3]
along = fn(f, x, d) = jvp(f, x, d)[1]
fn third(b) {
  f = fn(z, w) { a = z * w; sum(a * a) * sum(b(z)) * w[0] }
  p = fn(x, w) = along(fn(z) = grad(fn(z) = f(z, w))(z), x, [1, 2])
  q = fn(x, w) = sum(along(fn(w) = grad(fn(w) = sum(p(x, w)))(w), w, [1, -1]))
  r = fn(x, w) = sum(along(fn(w) = grad(fn(z) = f(z, w))(x), w, [1, 2]))
  for (g in (q, r)) {
    back = grad(g)(x, w)
    forward = stack((along(fn(x) = g(x, w), x, [1, 0]), along(fn(x) = g(x, w), x, [0, 1])))
    assert(max(abs(back - forward)) < 1e-9 * (1 + max(abs(forward))), format("{}", b))
  }
}
for (b in (prod, std, var, cumprod, cumsum, norm, softmax, logsumexp, sort, median, max, flatten, mean)) { third(b) }
third(fn(z) = dot(z, z))
third(fn(z) = z @ z)
third(fn(z) = prod(outer(z, z), axis = 0))
third(fn(z) = pad(tile(repeat(z, 2), 2), (1, 1)))
third(fn(z) = reshape(concat((z, z)), (2, 2))')
third(fn(z) = top_k(z, 1)[0])
third(fn(z) = take(z, [1, 1]))
third(fn(z) = diag(z) + inv(outer(z, z) + eye(2)))
third(fn(z) = unflatten(z * z, (0, 0))[0])
print("same")  # expect: same
