# Lesson 4: a value that is used twice; sums, and why their order matters. Text: 04_accumulate.md
fn f(x) {
  a = x * 3
  b = a + x         # x is used twice, so its cotangent has two parts
  b * a             # and so is a
}
print(grad(f)(2.0))                       # 12 x^2: 24 * 2
# expect: 48

# The parts are added, the last use first. In floating point the order of a sum matters:
print((1e16 + 1) - 1e16, 1 + (1e16 - 1e16))
# expect: 0 1

# So a program that promises the same bits must promise one order. With a block or without, it is the same one.
fn plain(x)   { a = x * 0.1; b = a + x; c = b * a; c + a * b * x }
fn blocked(x) { checkpoint < a = x * 0.1; b = a + x >; checkpoint < c = b * a >; c + a * b * x }
print(same(grad(plain)(0.7), grad(blocked)(0.7)))
# expect: true
