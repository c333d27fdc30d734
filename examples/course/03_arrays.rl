# Lesson 3: the adjoints of broadcasting, sum and matmul. Text: 03_arrays.md
a = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
b = [10.0, 20.0, 30.0]

# Broadcasting copies b to both rows; its adjoint adds the rows up again.
(y, back) = vjp(fn(b) = a + b, b)
print(back([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]))
# expect: [2, 2, 2]

# sum adds up; its adjoint copies.
(y, back) = vjp(fn(a) = sum(a, axis = 1), a)
print(back([1.0, 2.0]))
# expect: [[1, 1, 1],
# expect:  [2, 2, 2]]

# y = a @ w: da = dy @ w', dw = a' @ dy. The shapes leave no other choice.
w = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
(y, back) = vjp(fn(a, w) = a @ w, a, w)
dy = ones_like(y)
(da, dw) = back(dy)
print(same(da, dy @ w'), same(dw, a' @ dy))
# expect: true true

# The test of any adjoint: <dy, J t> = <J' dy, t>.
t = [[0.1, -0.2, 0.3], [0.5, 0.0, -0.1]]
(y, jt) = jvp(fn(a) = a @ w, a, t)
print(abs(sum(dy * jt) - sum(da * t)) < 1e-12)
# expect: true
