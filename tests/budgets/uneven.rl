# Records of arrays of uneven sizes, and steps of uneven cost.
s0 = {a: sin((0..6000) * 0.1), b: cos((0..500) * 0.1), c: 0.3}
fn f(s) {
  for (i in 0..80) {
    if (i % 5 == 0) { s.a = sin(s.a) * 1.1 + s.c; for (k in 0..6) { s.a = s.a - 0.01 * s.a * s.a } }
    else { s.b = tanh(s.b * 1.2 + s.a[0:500] * 0.1); s.c = s.c * 0.9 + mean(s.b) }
  }
  sum(s.a * s.a) + sum(s.b) + s.c
}
(y, g) = value_and_grad(f)(s0)
print(y, sum(g.a), sum(g.b), g.c)
