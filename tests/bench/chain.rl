# chain.rl: 100 times y = sin(y) * 0.9 + exp(-y * y) * 0.1 on a million elements. Run with --float f32.
import "./measure.rl" as m

x = m.noise(1, (1_000_000,))

fn loss(y) {
  for (i in 0..100) { y = sin(y) * 0.9 + exp(-y * y) * 0.1 }
  sum(y)
}
m.gradient("chain", loss, x)
