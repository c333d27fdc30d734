# Solutions of lesson 7: the number of doublings is a whole number; its derivative is zero where it is one.
fn steps_to(x) {
  n = 0.0
  p = 1.0
  while (p <= x) { p = p * 2; n = n + 1 }
  n
}
print(steps_to(5.0), grad(fn(x) = steps_to(x) + 0 * x)(5.0))
# expect: 3 0
