# A block in a loop: each round keeps what entered the block; the adjoint replays it.
fn rollout(x, w) {
  for (t in 0..100) {
    checkpoint <
      h = tanh(x @ w)
      x = x + 0.1 * h
    >
  }
  sum(x * x)
}
