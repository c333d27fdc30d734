# Branch: only the arm that was taken is reversed.
fn huber(r, d) {
  if (abs(r) < d) {
    y = r * r / 2
  } else {
    y = d * (abs(r) - d / 2)
  }
  y
}
