# tree.rl: a recursion over a binary tree of two thousand leaves, differentiated within a twentieth of the memory that
# keeping every node takes.

(size, depth) = (200, 11)
seed(3)
w = {left: randn(size) * 0.7, right: randn(size) * 0.7, leaf: randn(size)}

# The value of the subtree below a node: the path to it is told by x.
fn node(w, x, depth) {
  if (depth == 0) { return tanh(w.leaf * x) }
  a = node(w, x * 1.01, depth - 1)
  b = node(w, x - 0.02, depth - 1)
  tanh(w.left * a + w.right * b)
}
fn energy(w) = sum(node(w, 0.5, depth) ^ 2)
# The same, and nothing else is said about what to keep.
fn within(w) { checkpoint (budget = 150KB) < e = energy(w) >; e }

all = measure(fn() = value_and_grad(energy)(w))
few = measure(fn() = value_and_grad(within)(w))
print(format("the same gradient: {}", same(few.value, all.value)))
print(format("bytes at most: {} without a budget, {} within one; a twentieth or less: {}", all.peak_bytes, few.peak_bytes, few.peak_bytes * 20 <= all.peak_bytes))

# expect: the same gradient: true
# expect: bytes at most: <*> without a budget, <*> within one; a twentieth or less: true
