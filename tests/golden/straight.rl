# Straight line: a layer and its loss.
fn loss(w, b, x, y) {
  h = tanh(x @ w + b)
  e = h - y
  mean(e ^ 2)
}
