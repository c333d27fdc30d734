# Lesson 10: what reverse mode has to remember. Text: 10_memory.md
fn layer(w, x) = sin(w @ x)
fn none_(w1, w2, w3, x) { x = layer(w1, x); x = layer(w2, x); x = layer(w3, x); sum(x) }
fn each(w1, w2, w3, x) {
  checkpoint < x = layer(w1, x) >
  checkpoint < x = layer(w2, x) >
  checkpoint < x = layer(w3, x) >
  sum(x)
}
fn two(w1, w2, w3, x) {
  checkpoint < x = layer(w1, x); x = layer(w2, x) >
  x = layer(w3, x)
  sum(x)
}
seed(0)
args = (randn(5, 4), randn(6, 5), randn(7, 6), randn(4))

# Nothing marked: before each sine (5 + 6 + 7 numbers) and between the layers (5 + 6).
print(saved(none_, args...).bytes / 8)
# expect: 29
# A block on each layer: what enters the second and the third (5 + 6).
print(saved(each, args...).bytes / 8)
# expect: 11
# A block on the first two: what leaves it (6), and the third layer's sine (7).
print(saved(two, args...).bytes / 8)
# expect: 13
for (v in saved(two, args...).values) { print(v.name, v.shape, v.from, "for", v.needed) }
# expect: w1 (5, 4) argument for layer(w1, x)
# expect: x (4,) argument for layer(w1, x)
# expect: w2 (6, 5) argument for layer(w2, x)
# expect: w3 (7, 6) argument for w @ x
# expect: x (6,) computed for w @ x
# expect: w @ x (7,) computed for sin(w @ x)

# The gradient is the same to the last bit.
all = (0, 1, 2, 3)
print(same(grad(none_, wrt = all)(args...), grad(two, wrt = all)(args...)))
# expect: true
