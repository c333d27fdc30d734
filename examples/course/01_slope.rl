# Lesson 1: the derivative, and the quotient it is the limit of. Text: 01_slope.md
fn f(x) = x^3 - 2 * x
print(grad(f)(2.0))                       # 3 x^2 - 2 at 2
# expect: 10

# The difference quotient, forward and central, with ever smaller steps.
for (k in 1..6) {
  h = 10.0^(-2 * k)
  forward = (f(2.0 + h) - f(2.0)) / h
  central = (f(2.0 + h) - f(2.0 - h)) / (2 * h)
  print(format("{:.0e} {:.1e} {:.1e}", h, abs(forward - 10), abs(central - 10)))
}
# expect: 1e-02 6.0e-02 1.0e-04
# expect: 1e-04 6.0e-04 <*>
# expect: 1e-06 <*> <*>
# expect: 1e-08 <*> <*>
# expect: 1e-10 <*> <*>

# check_grad does it for every argument.
print(check_grad(f, 2.0).worst < 1e-8)
# expect: true

# Exercise: the derivative of f at 0 by hand. Then make the assert hold. (solutions/01_slope.rl)
slope_at_0 = grad(f)(0.0)
assert(slope_at_0 == -2.0, "3 * 0^2 - 2")
