# block_keep_again.rl: what a policy keeps of an instruction that runs several times, in functions called at
# several levels and under derivatives whose passes run it unlike: each replay takes what belongs to it.

# one function at two levels, of whose values one alone has the name
fn lin(a, w, l) = sin(name(l, a @ w))
fn named(w, n) {
  if (n == 0) {
    a = lin(w, w, "z")
    b = lin(3 * w, w, "h")
    return sum(a * b)
  }
  if (n == 1) {
    checkpoint (save = ["h"]) <
      a = lin(w, w, "z")
      checkpoint (save = ["h"]) < b = lin(3 * w, w, "h") >
    >
    return sum(a * b)
  }
  checkpoint (save = not_names(["z"])) <
    a = lin(w, w, "z")
    checkpoint (save = not_names(["z"])) < b = lin(3 * w, w, "h") >
  >
  sum(a * b)
}
w = [[0.5, -0.2], [0.3, 0.7]]
plain = grad(fn(w) = named(w, 0))(w)
print(same(plain, grad(fn(w) = named(w, 1))(w)), same(plain, grad(fn(w) = named(w, 2))(w)))   # expect: true true
print(check_grad(fn(w) = named(w, 1), w).worst < 1e-7)                                                   # expect: true

# products of few and of many axes by the same instruction
fn mm(a, b) = a @ b
fn batch(x, blocks) {
  if (blocks) {
    checkpoint (save = "dots_no_batch") < a = sin(mm(x, w)); checkpoint (save = "dots_no_batch") < b = mm(a[0], w) > >
  } else {
    a = sin(mm(x, w))
    b = mm(a[0], w)
  }
  sum(b)
}
x = ones(2, 2, 2)
print(same(grad(fn(x) = batch(x, true))(x), grad(fn(x) = batch(x, false))(x)))   # expect: true

# tangents' products have other origins in other passes
fn m(x, w) = sin(x @ w)
fn layers(w, blocks) {
  if (blocks) {
    checkpoint (save = "dots") <
      x = m(w, w)
      checkpoint < x = m(x, w) >
      x = sin(x)
    >
  } else { x = sin(m(m(w, w), w)) }
  sum(x)
}
fn with(w) = layers(w, true)
fn without(w) = layers(w, false)
print(same(hvp(with, w, w), hvp(without, w, w)), same(hessian(with)(w), hessian(without)(w)))   # expect: true true
print(same(jvp(grad(with), (w,), (w,)), jvp(grad(without), (w,), (w,))))                       # expect: true
print(same(grad(fn(w) = sum(grad(with)(w)^2))(w), grad(fn(w) = sum(grad(without)(w)^2))(w)))   # expect: true
