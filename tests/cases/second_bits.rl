# second_bits.rl: reverse over reverse adds cotangents in the order of the plain program, whatever block a value
# came out of, and though the first reverse pass computes cheap values again where it runs on its own.

seed(3)
a = randn(7)
x = randn(7)

fn plain(x) {
  y = sin(x)
  z = y * y * 1.3
  w = exp(z) * y + z * z * x
  sum(w * w)
}
fn middle(x) {
  y = sin(x)
  checkpoint <
    z = y * y * 1.3
    w = exp(z) * y + z * z * x
  >
  sum(w * w)
}
# y is read in the block and, more than once, after it.
fn first(x) {
  checkpoint <
    y = sin(x)
    z = y * y * 1.3
  >
  w = exp(z) * y + z * z * x
  sum(w * w)
}
fn each(x) {
  checkpoint < y = sin(x) >
  checkpoint < checkpoint < z = y * y * 1.3 > >
  w = exp(z) * y + z * z * x
  sum(w * w)
}
fn whole(x) {
  checkpoint (save = "everything") <
    y = sin(x)
    z = y * y * 1.3
    w = exp(z) * y + z * z * x
  >
  sum(w * w)
}
fn branch(x) {
  if (x[0] < 100) {
    y = sin(x)
    z = y * y * 1.3
  } else {
    y = x
    z = x
  }
  w = exp(z) * y + z * z * x
  sum(w * w)
}
# Pullbacks among what a block hands over.
fn mapped(x) = sum(sin(map(fn(t) = 0.5 / (1.5 + square(std(x + t * cumsum(ones(7))))), 0.5 * ones(3))))
fn mapped_block(x) {
  v = checkpoint < map(fn(t) = 0.5 / (1.5 + square(std(x + t * cumsum(ones(7))))), 0.5 * ones(3)) >
  sum(sin(v))
}

fn second(f) {
  g = grad(f)
  grad(fn(x) = sum(g(x) * a))(x)
}
h = second(plain)
for (f in (middle, first, each, whole, branch)) { print(same(second(f), h)) }
# expect: true
# expect: true
# expect: true
# expect: true
# expect: true
print(same(second(mapped), second(mapped_block)))
# expect: true
# Forward over reverse agrees but for roundings.
print(max(abs(hvp(plain, x, a) - h)) < 1e-12)
# expect: true
