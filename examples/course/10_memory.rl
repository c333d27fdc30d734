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

# What f keeps, and how many numbers of it are not given by the caller.
fn list(f) {
  s = saved(f, args...)
  for (v in s.values) { print(format("  {:<6} {:<7} {:<9} for {}", v.name, v.shape, v.from, v.needed)) }
  print("  numbers computed:", s.bytes / 8)
}

print("no block")
list(none_)
# expect: no block
# expect:   w1     (5, 4)  argument  for w @ x
# expect:   x      (4,)    argument  for w @ x
# expect:   w @ x  (5,)    computed  for sin(w @ x)
# expect:   w2     (6, 5)  argument  for w @ x
# expect:   x      (5,)    computed  for w @ x
# expect:   w @ x  (6,)    computed  for sin(w @ x)
# expect:   w3     (7, 6)  argument  for w @ x
# expect:   x      (6,)    computed  for w @ x
# expect:   w @ x  (7,)    computed  for sin(w @ x)
# expect:   numbers computed: 29

print("a block on each layer")
list(each)
# expect: a block on each layer
# expect:   w1     (5, 4)  argument  for layer(w1, x)
# expect:   x      (4,)    argument  for layer(w1, x)
# expect:   w2     (6, 5)  argument  for layer(w2, x)
# expect:   x      (5,)    computed  for layer(w2, x)
# expect:   w3     (7, 6)  argument  for layer(w3, x)
# expect:   x      (6,)    computed  for layer(w3, x)
# expect:   numbers computed: 11

print("a block on the first two")
list(two)
# expect: a block on the first two
# expect:   w1     (5, 4)  argument  for layer(w1, x)
# expect:   x      (4,)    argument  for layer(w1, x)
# expect:   w2     (6, 5)  argument  for layer(w2, x)
# expect:   w3     (7, 6)  argument  for w @ x
# expect:   x      (6,)    computed  for w @ x
# expect:   w @ x  (7,)    computed  for sin(w @ x)
# expect:   numbers computed: 13

# The gradient is the same to the last bit.
all = (0, 1, 2, 3)
print(same(grad(none_, wrt = all)(args...), grad(two, wrt = all)(args...)))
# expect: true
