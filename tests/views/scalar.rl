# No arrays at all: a while loop, a branch, a recursion.
fn fact(x, n) = if (n <= 1) { x } else { x * fact(x, n - 1) }
fn newton(a) {
  y = a
  while (abs(y * y - a) > 1e-9) { y = (y + a / y) / 2 }
  if (y > 1) { y } else { y * y }
}
fn both(a) = newton(a) + fact(a, 3)
print(grad(both)(2.0))
