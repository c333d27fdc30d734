# Enough to know that what is emitted differentiates; more in other places.
fn loss(w) {
  s = 0.0
  for (i in 0..5) {
    if (i == 3) { continue }
    s = s + w^i
    if (s > 1e6) { return 0.0 }
  }
  s
}
print(grad(loss)(2.0))                # expect: 37
print(grad(fn(p) = sum(p.w * p.w) + p.b)({w: [1, 2], b: 3}))  # expect: {w: [2, 4], b: 1}
fn upd(x) { p = {w: zeros(3), t: (1, 2)}; p.w[1] = x * x; p.t[0] = x; sum(p.w) + p.t[0] }
print(grad(upd)(3))                   # expect: 7
fn newton(a) { y = a; while (abs(y * y - a) > 1e-12) { y = (y + a / y) / 2 }; y }
print(abs(grad(newton)(4.0) - 0.25) < 1e-9)  # expect: true
fn block(x) { checkpoint < h = sin(x) > ; h * h }
print(abs(grad(block)(1.0) - sin(2.0)) < 1e-15)  # expect: true
print(grad(fn(x) = if (x > 0 and x < 10) { x * x } else { 0 })(3))  # expect: 6
