# elements.rl: the gradient of one step of chain.rl on as many elements as the second argument says, or with the
# third, "copy", a copy of them.
import "./measure.rl" as m

x = zeros(m.number(1, 1_000_000)) + 0.5
fn step(y) = sum(sin(y) * 0.9 + exp(-y * y) * 0.1)
fn copy() {
  y = x
  y[0] = 1
  (y[0], y[0:1])
}
if (m.word(2, "step") == "copy") { m.repeat("copy", copy, m.norm_of, 5) } else {
  both = value_and_grad(step)
  m.repeat("elements", fn() { (l, g) = both(x); (l, g[0:1]) }, m.norm_of, 5)
}
