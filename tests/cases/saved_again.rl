# saved_again.rl: what the reverse pass computes again is not saved, and results are those of saving it.
import "nn" as nn

seed(5)
# A normalised, scaled and shifted value is made again from what normalising keeps, and the shift, which is given.
p = {w: randn(16, 16), scale: randn(16), shift: randn(16)}
x = randn(64, 16)
fn normed(p, x) {
  c = x - mean(x, axis = -1, keepdims = true)
  z = c / sqrt(mean(c * c, axis = -1, keepdims = true) + 1e-5) * p.scale + p.shift
  sum(tanh(z @ p.w))
}
kept = saved(normed, p, x)
print(kept.bytes == 2 * 64 * 16 * 8 + 64 * 8)
# expect: true
# An activation is made again from its argument.
fn active(w, x) {
  u = x @ w
  sum(sin(gelu(u) @ w))
}
print(saved(active, p.w, x).bytes == 2 * 64 * 16 * 8)
# expect: true

# The transformer is written out for that: the same as with its parts, and a third less saved.
q = nn.transformer_init(8, 32)
y = randn(2, 6, 8)
fn parts(p, x) {
  x = x + nn.attention(p.attention, nn.layer_norm(p.norm1, x), 2, true)
  x + nn.dense(p.down, gelu(nn.dense(p.up, nn.layer_norm(p.norm2, x))))
}
whole = fn(q) = sum(sin(nn.transformer(q, y, heads = 2)))
apart = fn(q) = sum(sin(parts(q, y)))
print(whole(q) == apart(q), max(abs(flatten(grad(whole)(q)) - flatten(grad(apart)(q)))) < 1e-12)
# expect: true true
print(saved(whole, q).bytes < 0.75 * saved(apart, q).bytes)
# expect: true
g = grad(fn(q) = sum(flatten(grad(whole)(q)) ^ 2))(q)
print(format("{:.12g}", sum(abs(flatten(g)))) != "nan")
# expect: true
