# A flag that a loop owns stands for all its rounds: it is not dropped after the first.
fn f(b) {
  s = 0.0
  for (i in 0..2) {
    t = sin(2 * b)
    k = 0
    while (k < 1) { k += 1 }
    s += sum(t)
  }
  s
}
print(f([1, 2, 3]), grad(f)([1, 2, 3]))   # expect: -0.2538411333623447 [-1.6645873, -2.6145745, 3.8406811]
