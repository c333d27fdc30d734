# What saved(f, args…) lists: three sine layers with matrices 5x4, 6x5, 7x6, as in JAX's text on saved residuals.
fn layer(w, x) = sin(w @ x)
fn plain(w1, w2, w3, x) {
  x = layer(w1, x)
  x = layer(w2, x)
  x = layer(w3, x)
  sum(x)
}
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
fn show(s) {
  for (v in s.values) { if (v.from == "computed") { print(v.name, v.shape, v.bytes, v.function, v.needed) } }
  for (b in s.blocks) { print("block", b.line, b.enters, b.bytes) }
  print(s.bytes, s.given_bytes)
}
args = (ones(5, 4), ones(6, 5), ones(7, 6), ones(4))
show(saved(plain, args...))
# expect: w @ x (5,) 40 layer sin(w @ x)
# expect: x (5,) 40 layer w @ x
# expect: w @ x (6,) 48 layer sin(w @ x)
# expect: x (6,) 48 layer w @ x
# expect: w @ x (7,) 56 layer sin(w @ x)
# expect: 232 768
show(saved(each, args...))
# expect: x (5,) 40 each layer(w2, x)
# expect: x (6,) 48 each layer(w3, x)
# expect: block 10 ("w1", "x") 0
# expect: block 11 ("w2", "x") 40
# expect: block 12 ("w3", "x") 48
# expect: 88 768
show(saved(two, args...))
# expect: x (6,) 48 layer w @ x
# expect: w @ x (7,) 56 layer sin(w @ x)
# expect: block 16 ("w1", "x", "w2") 0
# expect: 104 768

# The sum is what a gradient holds at most.
s = saved(plain, args...)
m = measure(fn() = grad(plain, wrt = (0, 1, 2, 3))(args...))
print(s.bytes == m.saved_peak_bytes)          # expect: true

# Steps of a loop are one row; a policy's values are the block's; parts go by their paths.
fn steps(p, x) {
  for (i in 0..10) { checkpoint (save = "dots") < x = tanh(p.w @ x + p.b) > }
  sum(x)
}
s = saved(steps, {w: ones(5, 5), b: ones(5)}, ones(5))
for (v in s.values) { print(v.name, v.count, v.bytes, v.from, v.line) }
# expect: x 1 40 argument 53
# expect: p.w 1 200 argument 52
# expect: p.b 1 40 argument 52
# expect: p.w @ x 10 400 kept by the block 53
# expect: x 9 360 computed 53
for (b in s.blocks) { print(b.count, b.enters, b.bytes) }
# expect: 10 ("p", "x") 400
print(saved(fn(x) = x * x, 3.0).bytes)        # expect: 0
