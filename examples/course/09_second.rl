# Lesson 9: second derivatives and Newton's method. Text: 09_second.md
fn rosenbrock(v) = (1 - v[0])^2 + 100 * (v[1] - v[0]^2)^2
start = [-1.2, 1.0]

# Gradient descent creeps along the valley.
v = start
for (i in 0..1000) { v = v - 1e-3 * grad(rosenbrock)(v) }
print(rosenbrock(v) > 0.01)
# expect: true

# Newton's method knows its curvature.
v = start
for (i in 0..7) { v = v - solve(hessian(rosenbrock)(v), grad(rosenbrock)(v)) }
print(norm(v - [1.0, 1.0]) < 1e-8)
# expect: true

# A Hessian times a vector needs no Hessian.
d = [1.0, -1.0]
print(norm(hvp(rosenbrock, start, d) - hessian(rosenbrock)(start) @ d) < 1e-9)
# expect: true
