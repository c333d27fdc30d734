# Solutions of lesson 6: exp, division, and two variables. The pullback returns the cotangents by name.
fn plus(p, q) {
  for (name in keys(q)) { p[name] = if (has(p, name)) { p[name] + q[name] } else { q[name] } }
  p
}
fn run(e, at) {
  if (e.op == "var") { return (at[e.name], fn(g) { r = {}; r[e.name] = g; r }) }
  (a, back_a) = run(e.a, at)
  if (e.op == "exp") { return (exp(a), fn(g) = back_a(g * exp(a))) }
  (b, back_b) = run(e.b, at)
  (a / b, fn(g) = plus(back_a(g / b), back_b(-g * a / b^2)))
}
x = {op: "var", name: "x"}
y = {op: "var", name: "y"}
(v, back) = run({op: "div", a: {op: "exp", a: x}, b: y}, {x: 0.5, y: 2.0})
g = back(1.0)
(gx, gy) = grad(fn(x, y) = exp(x) / y, wrt = (0, 1))(0.5, 2.0)
print(abs(g.x - gx) < 1e-15, abs(g.y - gy) < 1e-15)
# expect: true true
