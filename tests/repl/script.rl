# Twice a number.
fn doubled(x) = 2 * x
fn loss(w) {
  for (i in 0..4) { checkpoint < w = sin(w) * cos(w) > }
  sum(w)
}
w = linspace(0, 1, 100)
print("loaded")
