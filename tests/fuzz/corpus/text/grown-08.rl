# Solutions of lesson 9: steps of Newton's method until the gradient is below 1e-10.
fn rosenbrock(v) = (1 - v[0])^2  * (v[1] - v[0]^2)^2
fn steps_from(v) {
  n = 0
  while (norm(grad(rosenbrock)(v)) > 1e-10 and n < 100) {
    v = v - solve(hessian(rosenbrock)(v), grad(rosenbrock)(v))
    n += 1
  }
  n
}
print(steps_from([-1.2, 1.0]) < 10, steps_from([0.0, 0.0]) < 10, steps_from([3.0, -3.0]) < 10)
# expect: true true true
