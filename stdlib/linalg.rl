# linalg.rl: linear algebra by iteration, in Replay: what only needs products, and what never forms the
# matrix. Everything here can be differentiated.

# --- sizes ----------------------------------------------------------------------------------------

# unit(x): x over its Euclidean norm; the shape of x.
#   linalg.unit([3, 4])  # [0.6, 0.8]
#   linalg.unit([0, 2])  # [0, 1]
fn unit(x) = x / norm(x)

# norm_1(a): the largest column sum of absolute values: how much a can stretch in the 1-norm.
#   linalg.norm_1([[1, -2], [3, 4]])  # 6
#   linalg.norm_1(eye(3))  # 1
fn norm_1(a) = max(sum(abs(a), axis = 0))

# norm_inf(a): the largest row sum of absolute values: how much a can stretch in the maximum norm.
#   linalg.norm_inf([[1, -2], [3, 4]])  # 7
#   linalg.norm_inf(eye(3))  # 1
fn norm_inf(a) = max(sum(abs(a), axis = 1))

# norm_2(a): the largest singular value: how much a can stretch in the Euclidean norm.
#   abs(linalg.norm_2([[3, 0], [0, -5]]) - 5) < 1e-9  # true
#   linalg.norm_2(eye(3))  # 1
fn norm_2(a, steps = 100) = sqrt(power_iteration(a' @ a, steps).value)

# cond(a): the largest over the smallest singular value: how much solving with a can enlarge an error.
#   linalg.cond([[4, 0], [0, 2]])  # 2
#   linalg.cond(eye(3))  # 1
fn cond(a) {
  s = svd(a, full_matrices = false)[1]
  s[0] / s[-1]
}

# matrix_rank(a): how many singular values are above rounding.
#   linalg.matrix_rank([[1, 2], [2, 4]])  # 1
#   linalg.matrix_rank(eye(3))  # 3
fn matrix_rank(a) {
  s = svd(a, full_matrices = false)[1]
  count_nonzero(s > s[0] * maximum(shape(a)[0], shape(a)[1]) * 2.220446049250313e-16)
}

# --- products -------------------------------------------------------------------------------------

# kron(a, b): every element of the matrix a times the matrix b, side by side: [m, n] and [p, q] give [m p, n q].
#   linalg.kron([[1, 2]], [[1], [10]])  # [[1, 2], [10, 20]]
#   shape(linalg.kron(ones(2, 3), ones(4, 5)))  # (8, 15)
fn kron(a, b) {
  ((m, n), (p, q)) = (shape(a), shape(b))
  reshape(a[:, none, :, none] * b[none, :, none, :], (m * p, n * q))
}

# matrix_power(a, n): a @ a @ … n times, n >= 0, by squaring; a is square, and the result like it.
#   linalg.matrix_power([[1, 1], [0, 1]], 5)  # [[1, 5], [0, 1]]
#   linalg.matrix_power([[2]], 0)  # [[1]]
fn matrix_power(a, n) {
  y = eye(shape(a)[0])
  while (n > 0) {
    if (n % 2 == 1) { y = y @ a }
    n = n // 2
    if (n > 0) { a = a @ a }
  }
  y
}

# expm(a): the exponential of a square matrix, of its shape: its series for a small part of a, squared back up.
#   linalg.expm([[0, 1], [0, 0]])  # [[1, 1], [0, 1]]
#   abs(linalg.expm([[1]])[0, 0] - exp(1)) < 1e-12  # true
fn expm(a, terms = 18) {
  size = stop_grad(norm_1(a))
  halvings = if (size > 0.5) { i64(ceil(log2(size))) + 1 } else { 0 }
  a = a / 2.0 ^ halvings
  term = eye(shape(a)[0])
  y = term
  for (k in 1..terms) {
    term = term @ a / k
    y = y + term
  }
  for (k in 0..halvings) { y = y @ y }
  y
}

# --- orthogonality --------------------------------------------------------------------------------

# whiten(x): the rows of x: [n, d] brought to mean 0 and covariance 1.
#   linalg.whiten([[1], [3]])  # [[-1], [1]]
#   shape(linalg.whiten(randn(50, 3)))  # (50, 3)
fn whiten(x) {
  x = x - mean(x, axis = 0)
  solve_triangular(cholesky(x' @ x / shape(x)[0]), x', lower = true)'
}

# project(x, onto): the part of the vector x along the vector onto.
#   linalg.project([3, 4], [2, 0])  # [3, 0]
#   linalg.project([3, 1], [1, 1])  # [2, 2]
fn project(x, onto) = dot(x, onto) / dot(onto, onto) * onto

# gram_schmidt(a): orthonormal columns that span what those of a: [m, n] do, as many (modified Gram and Schmidt).
#   linalg.gram_schmidt([[3, 1], [0, 2]])  # [[1, 0], [0, 1]]
#   shape(linalg.gram_schmidt(randn(5, 2)))  # (5, 2)
fn gram_schmidt(a) {
  columns = ()
  for (v in a') {
    for (u in columns) { v = v - dot(u, v) * u }
    columns = append(columns, unit(v))
  }
  stack(columns, axis = 1)
}

# --- eigenvalues and equations --------------------------------------------------------------------

# power_iteration(a): the eigenvalue of largest size of a symmetric matrix, and its eigenvector:
# {value, vector}. It converges as the ratio of the two largest, per step.
#   round(linalg.power_iteration([[2, 1], [1, 2]]).value)  # 3
#   linalg.power_iteration([[4]])  # {value: 4, vector: [1]}
fn power_iteration(a, steps = 100) {
  v = unit(cos(0..shape(a)[0]))            # a start that is hardly orthogonal to the answer
  for (i in 0..steps) { v = unit(a @ v) }
  {value: dot(v, a @ v), vector: v}
}

# cholesky_solve(l, b): the x, of b's shape, for which l @ l' @ x == b, from l = cholesky(a).
#   linalg.cholesky_solve([[2, 0], [0, 4]], [8, 16])  # [2, 1]
#   linalg.cholesky_solve([[2, 0], [1, 1]], [[4], [4]])  # [[0], [2]]
fn cholesky_solve(l, b) = solve_triangular(l, solve_triangular(l, b, lower = true), trans = true, lower = true)

# matrix_function(f, a): f of a symmetric matrix, of its shape: f of its eigenvalues, as matrix_function(sqrt, a).
#   linalg.matrix_function(sqrt, [[4, 0], [0, 9]])  # [[2, 0], [0, 3]]
#   linalg.matrix_function(fn(w) = w ^ 2, [[3]])  # [[9]]
fn matrix_function(f, a) {
  (w, v) = eigh(a)
  v * f(w) @ v'
}

# conjugate_gradient(a, b): solves a x = b for a symmetric positive definite a, a matrix or a function
# that gives a @ x (Hestenes and Stiefel, 1952). Stops when the error left is below tol times norm(b).
#   linalg.conjugate_gradient([[2, 0], [0, 4]], [2, 0])  # [1, 0]
#   linalg.conjugate_gradient(fn(x) = 2 * x, [2, 6])  # [1, 3]
fn conjugate_gradient(a, b, tol = 1e-10, steps = none) {
  times = if (type(a) == "function") { a } else { fn(x) = a @ x }
  most = if (steps == none) { 10 * size(b) } else { steps }
  x = zeros_like(b)
  r = b                                    # what is left: b - a x
  d = r
  left = sum(r * r)
  goal = tol * tol * left
  for (i in 0..most) {
    if (left <= goal) { break }
    ad = times(d)
    length = left / sum(d * ad)
    x = x + length * d
    r = r - length * ad
    now = sum(r * r)
    d = r + now / left * d
    left = now
  }
  x
}
