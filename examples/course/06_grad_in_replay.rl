# Lesson 6: reverse mode for a tiny language, written in Replay. Text: 06_grad_in_replay.md
# An expression is a record: {op: "x"}, {op: "const", value: c}, {op: "add"|"mul", a: …, b: …}, {op: "sin", a: …}.
fn x_() = {op: "x"}
fn c_(v) = {op: "const", value: v}
fn add_(a, b) = {op: "add", a: a, b: b}
fn mul_(a, b) = {op: "mul", a: a, b: b}
fn sin_(a) = {op: "sin", a: a}

# Forward: the value, and a function that takes the cotangent of the result to that of x.
fn run(e, x) {
  if (e.op == "x") { return (x, fn(g) = g) }
  if (e.op == "const") { return (e.value, fn(g) = 0.0) }
  (a, back_a) = run(e.a, x)
  if (e.op == "sin") { return (sin(a), fn(g) = back_a(g * cos(a))) }
  (b, back_b) = run(e.b, x)
  if (e.op == "add") { return (a + b, fn(g) = back_a(g) + back_b(g)) }
  (a * b, fn(g) = back_a(g * b) + back_b(g * a))
}
fn my_grad(e) = fn(x) {
  (y, back) = run(e, x)
  back(1.0)
}

e = add_(mul_(x_(), sin_(mul_(c_(2.0), x_()))), x_())   # x sin(2x) + x
print(abs(my_grad(e)(0.3) - grad(fn(x) = x * sin(2 * x) + x)(0.3)) < 1e-12)
# expect: true

# It is an ordinary program, so Replay differentiates it: the second derivative.
print(abs(grad(my_grad(e))(0.3) - grad(grad(fn(x) = x * sin(2 * x) + x))(0.3)) < 1e-12)
# expect: true
