# A branch with more saved values than an IF has slots: they cross it as one tuple, in every order of derivative.
fn f(x, c) {
  y = x
  if (c > 0) {
    y = y * sin(x + 0.1); y = y + cos(y * x); y = y * cos(x - 0.2); y = y + sin(y)
    y = y * sin(x + 0.5); y = y + cos(y * x); y = y * cos(x - 0.6); y = y + sin(y)
    y = y * sin(x + 0.9); y = y + cos(y * x); y = y * cos(x - 0.10); y = y + sin(y)
    y = y * sin(x + 0.13); y = y + cos(y * x); y = y * cos(x - 0.14); y = y + sin(y)
    y = y * sin(x + 0.17); y = y + cos(y * x); y = y * cos(x - 0.18); y = y + sin(y)
    y = y * sin(x + 0.21); y = y + cos(y * x); y = y * cos(x - 0.22); y = y + sin(y)
    y = y * sin(x + 0.25); y = y + cos(y * x); y = y * cos(x - 0.26); y = y + sin(y)
    y = y * sin(x + 0.29); y = y + cos(y * x); y = y * cos(x - 0.30); y = y + sin(y)
    y = y * sin(x + 0.33); y = y + cos(y * x); y = y * cos(x - 0.34); y = y + sin(y)
    y = y * sin(x + 0.37); y = y + cos(y * x); y = y * cos(x - 0.38); y = y + sin(y)
  } else if (c < 0) { y = x * x } else { y = sin(x) }
  y * x
}
fn g(x, c) {
  y = x
  checkpoint <
    if (c > 0) {
      y = y * sin(x + 0.1); y = y + cos(y * x); y = y * cos(x - 0.2); y = y + sin(y)
      y = y * sin(x + 0.5); y = y + cos(y * x); y = y * cos(x - 0.6); y = y + sin(y)
      y = y * sin(x + 0.9); y = y + cos(y * x); y = y * cos(x - 0.10); y = y + sin(y)
      y = y * sin(x + 0.13); y = y + cos(y * x); y = y * cos(x - 0.14); y = y + sin(y)
      y = y * sin(x + 0.17); y = y + cos(y * x); y = y * cos(x - 0.18); y = y + sin(y)
      y = y * sin(x + 0.21); y = y + cos(y * x); y = y * cos(x - 0.22); y = y + sin(y)
      y = y * sin(x + 0.25); y = y + cos(y * x); y = y * cos(x - 0.26); y = y + sin(y)
      y = y * sin(x + 0.29); y = y + cos(y * x); y = y * cos(x - 0.30); y = y + sin(y)
      y = y * sin(x + 0.33); y = y + cos(y * x); y = y * cos(x - 0.34); y = y + sin(y)
      y = y * sin(x + 0.37); y = y + cos(y * x); y = y * cos(x - 0.38); y = y + sin(y)
    } else if (c < 0) { y = x * x } else { y = sin(x) }
  >
  y * x
}
# No branch at all.
fn h(x, c) {
  y = x
  y = y * sin(x + 0.1); y = y + cos(y * x); y = y * cos(x - 0.2); y = y + sin(y)
  y = y * sin(x + 0.5); y = y + cos(y * x); y = y * cos(x - 0.6); y = y + sin(y)
  y = y * sin(x + 0.9); y = y + cos(y * x); y = y * cos(x - 0.10); y = y + sin(y)
  y = y * sin(x + 0.13); y = y + cos(y * x); y = y * cos(x - 0.14); y = y + sin(y)
  y = y * sin(x + 0.17); y = y + cos(y * x); y = y * cos(x - 0.18); y = y + sin(y)
  y = y * sin(x + 0.21); y = y + cos(y * x); y = y * cos(x - 0.22); y = y + sin(y)
  y = y * sin(x + 0.25); y = y + cos(y * x); y = y * cos(x - 0.26); y = y + sin(y)
  y = y * sin(x + 0.29); y = y + cos(y * x); y = y * cos(x - 0.30); y = y + sin(y)
  y = y * sin(x + 0.33); y = y + cos(y * x); y = y * cos(x - 0.34); y = y + sin(y)
  y = y * sin(x + 0.37); y = y + cos(y * x); y = y * cos(x - 0.38); y = y + sin(y)
  y * x
}
for (x in [0.3, -0.7]) {
  one = (grad(f)(x, 1), grad(grad(f))(x, 1), grad(grad(grad(f)))(x, 1), jvp(fn(x) = f(x, 1), (x,), (1.0,))[1])
  print(same(one[:3], (grad(g)(x, 1), grad(grad(g))(x, 1), grad(grad(grad(g)))(x, 1))),
        same(one[:3], (grad(h)(x, 1), grad(grad(h))(x, 1), grad(grad(grad(h)))(x, 1))),
        abs(one[3] - one[0]) < 1e-9 * (1 + abs(one[0])), check_grad(fn(x) = f(x, 1), x).worst < 1e-5)
}
# expect: true true true true
# expect: true true true true
print(grad(f)(3.0, -1), grad(f)(0.0, 0))  # expect: 27 0
