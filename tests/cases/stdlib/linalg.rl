# Linear algebra by iteration, against what defines it.
import "linalg" as linalg
seed(1)
fn close(a, b, tol = 1e-10) = max(abs(a - b)) < tol
a = f64([[1, -2], [3, 4]])
print(linalg.norm_1(a), linalg.norm_inf(a), format("{:.10f}", linalg.norm_2(a)))  # expect: 6 7 5.1166727360
print(linalg.unit(f64([3, 4])))                                        # expect: [0.6, 0.8]
print(linalg.kron(f64([[1, 2]]), f64([[1], [3]])))                     # expect: [[1, 2],
# expect:  [3, 6]]
print(close(linalg.matrix_power(a, 5), a @ a @ a @ a @ a), close(linalg.matrix_power(a, 0), eye(2)))  # expect: true true
print(close(linalg.expm(f64([[0, -1], [1, 0]])), [[cos(1), -sin(1)], [sin(1), cos(1)]]))  # expect: true
print(close(linalg.expm(zeros(3, 3)), eye(3)), close(linalg.expm(eye(2) * 3), eye(2) * exp(3)))  # expect: true true
b = randn(4, 4)
q = linalg.gram_schmidt(b)
print(close(q' @ q, eye(4)), close(tril(q' @ b, -1), 0))               # expect: true true
print(linalg.project(f64([2, 3]), f64([2, 0])))                        # expect: [2, 0]
s = b' @ b + eye(4)
r = linalg.power_iteration(s, 400)
print(close(s @ r.vector, r.value * r.vector, 1e-8))                   # expect: true
x = randn(4)
print(close(s @ linalg.conjugate_gradient(s, x), x), close(s @ linalg.conjugate_gradient(fn(v) = s @ v, x), x))  # expect: true true
print(linalg.conjugate_gradient(s, zeros(4)))                          # expect: [0, 0, 0, 0]

# Gradients.
print(check_grad(fn(a) = sum(linalg.expm(a) ^ 2), 0.3 * b).worst < 1e-6)             # expect: true
print(check_grad(fn(a) = sum(linalg.gram_schmidt(a)[:, 2]), b).worst < 1e-5)         # expect: true
print(check_grad(fn(x) = sum(linalg.conjugate_gradient(s, x, 1e-14) ^ 3), x).worst < 1e-5)  # expect: true
print(check_grad(fn(a) = sum(linalg.conjugate_gradient(a' @ a + eye(4), x, 1e-14)), b).worst < 1e-5)  # expect: true
print(check_grad(fn(a) = linalg.power_iteration(a + a', 60).value, s).worst < 1e-5)  # expect: true
print(check_grad(fn(a) = sum(linalg.kron(a, b)[0, :] ^ 2) + sum(linalg.matrix_power(a, 3)), b).worst < 1e-6)  # expect: true
