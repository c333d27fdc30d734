# A loop keeps, in each round, what its adjoint needs; the adjoint goes over the rounds from the last.
fn product(x) {
  p = 1.0
  for (i in 0..len(x)) {
    p = p * x[i]
  }
  p
}
