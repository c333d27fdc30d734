# Solutions of lesson 12: the blocks keep their inputs x, one for each layer; the peak stands where the last block has been
# replayed: the inputs of all layers and the inside of one.
fn model(p, x) {
  for (w in p) { checkpoint < x = x + tanh(x @ w) > }
  x
}
p = ()
for (i in 0..12) { p = append(p, randn(32, 32)) }
s = saved(fn(p, x) = sum(model(p, x)), p, randn(256, 32))
one = 256 * 32 * 8

# expect: true
