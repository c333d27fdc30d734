# layers.rl: as many layers of tanh(h @ w), 32 by 32, as the second argument says, each with its weights.
import "./measure.rl" as m

layers = m.number(1, 100)
x = m.noise(1, (32, 32))
p = ()
for (i in 0..layers) { p = append(p, m.noise(2 + i, (32, 32)) / sqrt(32)) }

fn loss(p) {
  h = x
  for (w in p) { h = tanh(h @ w) }
  mean(h ^ 2)
}
m.gradient("layers", loss, p)
