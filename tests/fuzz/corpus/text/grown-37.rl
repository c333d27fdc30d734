# The derivatives of a determinant at a singular matrix: its cofactors, and up to the third order theirs.
print(grad(det)([[1, 2], [2, 4]]))  # expect: [[ 4, -2],
# expect:  [-2,  1]]

# Of a polynomial of degree n the differences along e are exact but for rounding.
fn second(a, e) = grad(fn(a) = sum(grad(det)(a) * e))(a)
fn third(a, e, f) = grad(fn(a) = sum(second(a, e) * f))(a)
fn differs(a) {
  n = len(a)
  (e, f) = (reshape(sin(0..n * n), (n, n)), reshape(cos((0..n * n) * 3), (n, n)))
  h = 1e-3
  want = (second(a + h * f, e) - second(a - h * f, e)) / (2 * h)
  forward =
1.5
 jvp(fn(a) = second(a, e), (a,), (f,))[1]
  (norm(third(a, e, f) - want) < 1e-5 * (1 + norm(want)), norm(forward - third(a, e, f)) < 1e-12 * (1 + norm(want)))
}
for (n in 1..7) {
  seed(n)
  a = randn(n, n)
  for (rank in 0..n + 1) {
    (u, s, v) = svd(a)
    low = u @ diag(where(0..n < rank, s, 0)) @ v
    good = differs(low)
    if (not (good[0] and good[1])) { print(n, rank, good) }
  }
  assert(all(third(zeros(n, n), ones(n, n), eye(n)) == third(zeros(n, n), eye(n), ones(n, n))))
}
print(third(zeros(3, 3), eye(3), [[0, 1, 0], [0, 0, 0], [0, 0, 0]]))
# expect: [[ 0, 0, 0],
# expect:  [-1, 0, 0],
# expect:  [ 0, 0, 0]]

# The fourth goes through the inverse where it is not zero.

[1]

print(fourth(eye(4) + ones(4, 4)), fourth(zeros(3, 3)))  # expect: true true
