# fuse_sums.rl: sums and means at the end of a fused group have the bits of the reduction by itself: whatever axes,
# lengths around the tree's blocks, element types, and threads.
# options: --threads 2

# The product becomes an array before it is summed, for it is looked at in between.
fn apart(x, y, axis, keepdims) {
  z = x * y
  k = z[...]
  (sum(k, axis, keepdims), mean(k, axis, keepdims))
}
fn together(x, y, axis, keepdims) = (sum(x * y, axis, keepdims), mean(x * y, axis, keepdims))
fn both(x, y, axis, keepdims) {
  z = x * y
  (sum(z, axis, keepdims), mean(z, axis, keepdims), z)[:2]
}

seed(1)
fine = true
fn compare(a, b, axis) {
  fine = true
  for (k in (false, true)) {
    w = apart(a, b, axis, k)
    fine = fine and same(w, together(a, b, axis, k)) and same(w, both(a, b, axis, k))
  }
  fine
}
for (n in (1, 2, 3, 15, 16, 17, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1025, 4096, 131_071, 131_072, 131_073, 300_000)) {
  a = randn(n)
  b = randn(n)
  fine = fine and compare(a, b, none) and compare(a, b, 0) and compare(f32(a), f32(b), none)
}
print(fine)
# expect: true
for (s in ((1, 1), (7, 3), (3, 7), (130, 16), (16, 130), (40, 300), (300, 40), (700, 3), (5, 2000), (2000, 5), (1, 400_000), (3, 140_000))) {
  a = randn(s)
  b = randn(s)
  for (axis in (none, 0, 1, -1, (0, 1))) {
    fine = fine and compare(a, b, axis) and compare(f32(a), f32(b), axis)
    fine = fine and compare(a', b', axis) and compare(a, b[0:1, :], axis) and compare(a, b[:, 0:1], axis)
  }
}
print(fine)
# expect: true
for (s in ((4, 5, 6), (33, 129, 3), (2, 300, 65), (257, 2, 17), (256, 256, 3))) {
  a = randn(s)
  b = randn(s)
  for (axis in (none, 0, 1, 2, (0, 1), (1, 2), (0, 2), (0, 1, 2))) { fine = fine and compare(a, b, axis) }
}
print(fine)
# expect: true
# Nothing of the group is lost beside its sums, and zeros keep their sign.
x = randn(1000)
y = sin(x) * 2
print(same(y, sin(x) * 2), sum(sin(x) * 2) == sum(y), 1 / sum(-0.0 * abs(x)))
# expect: true true -inf
# Cotangents of what was broadcast: gradients are the same to the bit with fusing and without (make flags).
fn spread(a, b, c, s) = sum(sin(a * b + c) * s * exp(-a))
for (n in (1, 3, 17, 129, 300)) {
  g = grad(spread, wrt = (0, 1, 2, 3))(randn(n, 3), randn(3), randn(n, 1), 0.5)
  h = grad(spread, wrt = (0, 1, 2, 3))(f32(randn(5, n, 4)), f32(randn(n, 1)), f32(randn(5, 1, 1)), f32(0.5))
  print(format("{:.17g} {:.17g} {:.17g}", sum(flatten(g)), g[3], f64(sum(flatten(h)))), shape(h[1])[0], shape(h[2])[0], dtype(h[2]))
}
# expect: -1.9515648605012017 -1.4733815342028955 0.9344329833984375 1 5 f32
# expect: 1.2548764801701218 7.3544329119550795 -7.7509565353393555 3 5 f32
# expect: 3.827912958947655 15.827966798177346 8.9584178924560547 17 5 f32
# expect: 43.184363988948746 -24.61740352172421 1048.43310546875 129 5 f32
# expect: 150.52976933136438 5.6466608077486669 1341.9901123046875 300 5 f32
