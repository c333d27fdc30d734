# Solutions of lesson 10: a block around everything keeps only what enters it, and that is all given.
fn layer(w, x) = sin(w @ x)
fn whole(w1, w2, w3, x) {
  checkpoint < x = layer(w1, x); x = layer(w2, x); x = layer(w3, x) >
  sum(x)
}
print(saved(whole, randn(5, 4), randn(6, 5), randn(7, 6), randn(4)).bytes)
# expect: 0
