# Newton's iteration: as many adjoint rounds as there were rounds.
fn root(a) {
  y = a
  while (abs(y * y - a) > 1e-12) {
    y = (y + a / y) / 2
  }
  y
}
