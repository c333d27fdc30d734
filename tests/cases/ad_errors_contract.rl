# Errors under a gradient point at the user's line.
w = zeros(2, 3)
fn loss(x) {
  y = checkpoint < x @ w >
  sum(y)
}
grad(loss)([1, 2, 3])
# error: shape 4:22
