# Every form of a checkpoint block gives what the plain program gives.
fn plain(x, w) { h = tanh(x * w); g = sin(h) * x; sum(g * h) }
fn statement(x, w) { checkpoint < h = tanh(x * w); g = sin(h) * x >; sum(g * h) }
fn expression(x, w) { h = checkpoint < tanh(x * w) >; g = checkpoint < sin(h) * x >; sum(g * h) }
fn argument(x, w) { h = tanh(x * w); sum(checkpoint < sin(h) * x * h >) }
fn result(x, w) = checkpoint <
  h = tanh(x * w)
  g = sin(h) * x
  sum(g * h)
>
fn nested(x, w) {
  checkpoint <
    h = checkpoint < tanh(x * w) >
    checkpoint < checkpoint < g = sin(h) * x > >
  >
  sum(g * h)
}
fn recursive(x, w) { body = fn() = checkpoint < h = tanh(x * w); g = sin(h) * x; sum(g * h) >; body() }
x = [0.3, -1.2, 2.0]
w = [1.5, 0.25, -0.7]
want = value_and_grad(plain, wrt = (0, 1))(x, w)
for (f in (statement, expression, argument, result, nested, recursive)) {
  assert(same(value_and_grad(f, wrt = (0, 1))(x, w), want))
}
# policies
fn dots(x, w) { checkpoint (save = "dots") < h = tanh(x @ w); y = sin(h @ w) >; sum(y) }
fn nobatch(x, w) { checkpoint (save = "dots_no_batch") < h = tanh(x @ w); y = sin(h @ w) >; sum(y) }
fn everything(x, w) { checkpoint (save = "everything") < h = tanh(x @ w); y = sin(h @ w) >; sum(y) }
fn nothing(x, w) { checkpoint (save = "nothing") < h = tanh(x @ w); y = sin(h @ w) >; sum(y) }
fn named(x, w) { checkpoint (save = ["a", "b"]) < h = name("a", tanh(x @ w)); y = sin(name("b", h @ w)) >; sum(y) }
fn word(x, w) { checkpoint (save = "a") < h = name("a", tanh(x @ w)); y = sin(name("b", h @ w)) >; sum(y) }
fn others(x, w) { checkpoint (save = not_names(["a"])) < h = name("a", tanh(x @ w)); y = sin(name("b", h @ w)) >; sum(y) }
fn absent(x, w) { checkpoint (save = none, slots = none) < h = tanh(x @ w); y = sin(h @ w) >; sum(y) }
fn without(x, w) { h = tanh(x @ w); y = sin(h @ w); sum(y) }
m = [[0.1, -0.4], [0.9, 0.3]]
want = value_and_grad(without, wrt = (0, 1))(m, m')
for (f in (dots, nobatch, everything, nothing, named, word, others, absent)) {
  assert(same(value_and_grad(f, wrt = (0, 1))(m, m'), want))
}
print("same")  # expect: same
