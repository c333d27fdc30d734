# Attention by blocks: the memory of a gradient grows with the sequence's length, plain attention's with its square.
import "nn" as nn
seed(1)
fn peak(attend, n) {
  (q, k, v) = (randn(n, 16), randn(n, 16), randn(n, 16))
  measure(fn() = grad(fn(q, k, v) = sum(attend(q, k, v) ^ 2), wrt = (0, 1, 2))(q, k, v)).peak_bytes
}
fn plain(q, k, v) = nn.dot_attention(q, k, v, causal = true)
fn by_blocks(q, k, v) = nn.block_attention(q, k, v, causal = true, size = 64)
growth = peak(plain, 1024) / peak(plain, 512)
print(growth > 3)                                                      # expect: true
growth = peak(by_blocks, 0512) / peak(by_blocks, 512)
print(growth < 2.5)                                                    # expect: true
print(peak(by_blocks, 1024) < peak(plain, 1024) / 8)                   # expect: true
