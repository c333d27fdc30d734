# Lesson 7: branches, loops and recursion. Text: 07_control.md
fn relu_(x) = if (x > 0) { x } else { 0 * x }
print(grad(relu_)(3.0), grad(relu_)(-3.0))
# expect: 1 0

# A loop whose length depends on the values: the square root by Newton's method. Its derivative is 1 / (2 sqrt(a)).
fn root(a) {
  y = a
  while (abs(y * y - a) > 1e-12) { y = (y + a / y) / 2 }
  y
}
print(abs(grad(root)(2.0) - 1 / (2 * sqrt(2.0))) < 1e-9)
# expect: true

# Recursion: the pullbacks form the same tree as the calls.
fn power(x, n) = if (n == 0) { 1.0 } else if (n % 2 == 1) { x * power(x, n - 1) } else { power(x, n // 2)^2 }
print(grad(fn(x) = power(x, 10))(2.0))
# expect: 5120

# Which way was taken is remembered; a value that never mattered has derivative zero.
fn clip(x) { for (i in 0..10) { if (x > 4) { break }; x = x * 2 }; x }
print(grad(clip)(0.75))                    # doubled three times
# expect: 8
