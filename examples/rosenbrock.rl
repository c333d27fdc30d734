# rosenbrock.rl: Rosenbrock's curved valley by L-BFGS and by plain descent, and the path of each on paper.

import "optim" as optim

fn valley(p) = sum(100 * (p[1:] - p[:-1] ^ 2) ^ 2 + (1 - p[:-1]) ^ 2)

start = [-1.2, 1.0]
fit = optim.lbfgs(valley, start)
print(format("L-BFGS: {} steps, value {:.0e}, at {:.6f}, {:.6f}", fit.steps, fit.value, fit.p[0], fit.p[1]))

p = start
values = ()
for (step in 0..2000) {
  (v, g) = value_and_grad(valley)(p)
  values = append(values, v)
  p = p - 1e-3 * g
}
print(format("descent: 2000 steps, value {:.4f}, at {:.4f}, {:.4f}", valley(p), p[0], p[1]))

# In more dimensions the valley is as curved, and L-BFGS hardly minds.
wide = optim.lbfgs(valley, zeros(20), steps = 500)
print(format("20 dimensions: distance to the minimum {:.0e}", norm(wide.p - 1)))

plot(0..2000, stack(values), log = "y", title = "Descent in Rosenbrock's valley", xlabel = "step", ylabel = "value")

# expect: L-BFGS: <*> steps, value <*>, at 1.000000, 1.000000
# expect: descent: 2000 steps, value 0.0782, at 0.7207, 0.5180
# expect: 20 dimensions: distance to the minimum <*>e-<*>
