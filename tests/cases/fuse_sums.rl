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
# The product takes no memory.
big = ones(1_000_000)
held = measure(fn() = 0).peak_bytes
print(measure(fn() = sum(big * big)).peak_bytes - held < 100_000, big[0])
# expect: true 1
