# Derivatives of derivatives, in both modes and by both arguments, through blocks within blocks: the same as
# without blocks, where a direction reaches what enters the outer block and not the inner one, too.
fn plain(v, w) { a = v * w; b = a * a * v[1] + sin(v); c = b * b + a * w; c * v }
fn nested(v, w) { checkpoint < a = v * w; checkpoint < b = a * a * v[1] + sin(v) >; c = b * b + a * w >; c * v }
fn rows(v, w) { checkpoint < a = v * w; checkpoint (save = "dots") < b = a * a * v[1] + sin(v) > >; checkpoint < c = b * b + a * w >; c * v }
fn plain_closures(v, w) {
  a = v * w
  k = fn(u) { b = a * a * u[1] + sin(u); b }
  b = k(v)
  c = b * b + a * w
  c * v
}
fn closures(v, w) {
  checkpoint <
    a = v * w
    k = fn(u) { checkpoint < b = a * a * u[1] + sin(u) >; b }
    b = k(v)
    c = b * b + a * w
  >
  c * v
}

# A letter for each derivative: d and D in the direction of a tangent, by x and by w; g and G gradients; h a sum
# of rows of the hessian.
fn derivative(f, how) {
  if (how == "d") { return fn(x, w) = jvp(fn(v) = f(v, w), x, [1, 2])[1] }
  if (how == "D") { return fn(x, w) = jvp(fn(v) = f(x, v), w, [3, -1])[1] }
  if (how == "g") { return fn(x, w) = grad(fn(v) = sum(f(v, w) * [1, 3]))(x) }
  if (how == "G") { return fn(x, w) = grad(fn(v) = sum(f(x, v) * [2, 1]))(w) }
  if (how == "h") { return fn(x, w) = sum(hessian(fn(v) = sum(f(v, w)))(x), axis = 0) }
  fn(x, w) = f(x * w, w + x)
}
fn tower(f, hows) {
  for (how in hows) { f = derivative(f, how) }
  f([0.5, -1.5], [0.75, 0.25])
}
for (hows in ("gDg", "GdG", "hd", "hD", "hdd", "hDg", "gdDd", "hGDsg", "gGDd", "DgdG", "hGgD", "ggDG", "dDdg")) {
  for ((f, g) in ((plain, nested), (plain, rows), (plain_closures, closures))) {
    assert(same(tower(f, hows), tower(g, hows)), hows)
  }
}
print("same")  # expect: same
