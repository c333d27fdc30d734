# newton.rl: Newton's method, a `while` of unknown length, differentiated like anything else.

# The y with f(y) = a, from a start; its derivative by a is 1 / f'(y).
fn newton(f, a, y) {
  slope = grad(f)
  while (abs(f(y) - a) > 1e-12) { y = y - (f(y) - a) / slope(y) }
  y
}

fn f(y) = y ^ 3 + y
fn root(a) = newton(f, a, 1)

a = 10
y = root(a)
print(format("y^3 + y = 10 at   y = {:.10f}", y))
print(format("dy/da, through the loop {:.10f}", grad(root)(a)))
print(format("       by the formula   {:.10f}", 1 / (3 * y ^ 2 + 1)))
print(format("second derivative       {:.10f}", grad(grad(root))(a)))
print(format("       by the formula   {:.10f}", -6 * y / (3 * y ^ 2 + 1) ^ 3))

# A block around the loop keeps only what enters it; the derivative has the same bits.
fn kept(a) = checkpoint < newton(f, a, 1) >
print("same bits with a block:", same(grad(kept)(a), grad(root)(a)))

# expect: y^3 + y = 10 at   y = 2.0000000000
# expect: dy/da, through the loop 0.0769230769
# expect:        by the formula   0.0769230769
# expect: second derivative       -0.0054619936
# expect:        by the formula   -0.0054619936
# expect: same bits with a block: true
