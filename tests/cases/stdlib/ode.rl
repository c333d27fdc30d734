# The solvers: orders of convergence, structures, energy, and gradients through them.
import "ode" as ode
fn close(a, b, tol = 1e-12) = max(abs(a - b)) < tol
fn decay(t, y) = -2 * y
ts = linspace(0, 1, 5)
exact = exp(-2 * ts)

print(shape(ode.rk4(decay, 1.0, ts)), shape(ode.rk4(decay, ones(3), ts)))      # expect: (5,) (5, 3)
fn order(solver, steps) {
  e1 = max(abs(solver(decay, 1.0, ts, steps) - exact))
  e2 = max(abs(solver(decay, 1.0, ts, 2 * steps) - exact))
  log2(e1 / e2)
}
print(format("{:.1f} {:.1f} {:.1f}", order(ode.euler, 50), order(ode.midpoint, 50), order(ode.rk4, 10)))  # expect: 1.0 2.0 4.0
print(close(ode.dopri5(decay, 1.0, ts), exact, 1e-6), close(ode.dopri5(decay, 1.0, ts, rtol = 1e-10, atol = 1e-12), exact, 1e-9))  # expect: true true
print(close(ode.rk4(fn(t, y) = 3 * t ^ 2, 0.0, ts), ts ^ 3))                   # expect: true
# Back in time.
print(close(ode.rk4(decay, 1.0, -ts, 50), exp(2 * ts), 1e-6), close(ode.dopri5(decay, 1.0, -ts), exp(2 * ts), 1e-5))  # expect: true true

# Structures.
fn orbit(t, s) = {q: s.v, v: -s.q / norm(s.q) ^ 3}
start = {q: f64([1, 0]), v: f64([0, 1])}
round = 2 * pi
s = ode.rk4(orbit, start, [0, round], steps = 200)
print(shape(s.q), close(s.q[1], start.q, 1e-6))                                # expect: (2, 2) true
s = ode.dopri5(orbit, start, [0, round], rtol = 1e-9, atol = 1e-12)
print(close(s.q[1], start.q, 1e-6))                                            # expect: true
t = ode.rk4(fn(t, s) = (s[1], -s[0]), (0.0, 1.0), [0, 1], steps = 100)
print(close(t[0][1], sin(1), 1e-8))                                            # expect: true

# The leapfrog's energy comes back.
fn energy(q, v) = v ^ 2 / 2 - cos(q)
(q, v) = ode.leapfrog(fn(q) = -sin(q), 1.0, 0.0, linspace(0, 100, 11), steps = 200)
print(close(energy(q, v), energy(1, 0), 1e-3))                                 # expect: true

# Gradients: of the end of exp(a t) by a and by the start, and against differences.
fn end(a, y) = ode.rk4(fn(t, y) = a * y, y, linspace(0, 1, 3), steps = 20)[-1]
(ga, gy) = grad(end, wrt = (0, 1))(0.7, 2.0)
print(close(ga, 2 * exp(0.7), 1e-6), close(gy, exp(0.7), 1e-6))                # expect: true true
fn adaptive(a, y) = ode.dopri5(fn(t, y) = a * y, y, [0, 1], rtol = 1e-9)[-1]
(ga, gy) = grad(adaptive, wrt = (0, 1))(0.7, 2.0)
print(close(ga, 2 * exp(0.7), 1e-6), close(gy, exp(0.7), 1e-6))                # expect: true true
fn far(s) = sum(ode.rk4(orbit, s, linspace(0, 3, 4), steps = 10).q ^ 2)
print(check_grad(far, start).worst < 1e-6)                                     # expect: true
print(try(fn() = ode.dopri5(decay, 1.0, ts, most = 3))[1])                     # expect: dopri5: more than 3 steps; the equation is stiff or its tolerance too small
