# The layers, attention, cells and losses of nn: values, and gradients against central differences.
import "nn" as nn
seed(1)
fn close(a, b) = max(abs(a - b)) < 1e-12
fn right(f, p) = check_grad(f, p).worst < 1e-6
x = randn(2, 5, 4)
weight = randn(2, 5, 4)

# Layers.
p = nn.dense_init(4, 3)
print(shape(p.w), shape(p.b), shape(nn.dense(p, x)))                   # expect: (4, 3) (3,) (2, 5, 3)
print(right(fn(p) = sum(nn.dense(p, x) ^ 2), p))                       # expect: true
p = nn.mlp_init((4, 8, 8, 2))
print(len(p), shape(nn.mlp(p, x)))                                     # expect: 3 (2, 5, 2)
print(right(fn(p) = sum(nn.mlp(p, x, tanh) ^ 2), p))                   # expect: true
p = nn.embedding_init(7, 4)
ids = i64([[0, 6, 0], [1, 1, 1]])
print(shape(nn.embedding(p, ids)))                                     # expect: (2, 3, 4)
print(right(fn(p) = sum(sin(nn.embedding(p, ids))), p))                # expect: true
print(shape(nn.positions(6, 4)), same(nn.positions(6, 4)[0, :], f64([0, 0, 1, 1])))  # expect: (6, 4) true

p = nn.layer_norm_init(4)
y = nn.layer_norm(p, x, eps = 0)
print(close(mean(y, axis = -1), 0), close(var(y, axis = -1), 1))       # expect: true true
print(right(fn(p) = sum(weight * nn.layer_norm(p, x)), p), right(fn(x) = sum(weight * nn.layer_norm(p, x)), x))  # expect: true true
print(close(mean(nn.rms_norm(p, x, eps = 0) ^ 2, axis = -1), 1))       # expect: true

(p, s) = (nn.batch_norm_init(4), nn.batch_norm_state(4))
(y, s) = nn.batch_norm(p, x, s, eps = 0)
print(close(mean(reshape(y, (10, 4)), axis = 0), 0), close(s.mean, 0.1 * mean(reshape(x, (10, 4)), axis = 0)))  # expect: true true
print(close(nn.batch_norm(p, x, s, train = false)[0], (x - s.mean) / sqrt(s.var + 1e-5)))  # expect: true
print(right(fn(x) = sum(weight * nn.batch_norm(p, x, s)[0]), x))       # expect: true

print(same(nn.dropout(x, train = false), x))                           # expect: true
y = nn.dropout(ones(10000), 0.25)
print(abs(mean(y) - 1) < 0.02, abs(mean(y == 0) - 0.25) < 0.02)        # expect: true true
print(right(fn(x) = sum(nn.dropout(x) ^ 2), x))                        # expect: true

# Attention: all of the scores at once, or by blocks; later keys do not matter to a causal one.
(q, k, v) = (randn(2, 10, 4), randn(2, 10, 4), randn(2, 10, 3))
for (causal in (false, true)) {
  a = nn.dot_attention(q, k, v, causal)
  fn plain(q, k, v) = sum(sin(nn.dot_attention(q, k, v, causal)))
  for (size in (1, 3, 10, 16)) {
    fn by_blocks(q, k, v) = sum(sin(nn.block_attention(q, k, v, causal, size)))
    ga = grad(plain, wrt = (0, 1, 2))(q, k, v)
    gb = grad(by_blocks, wrt = (0, 1, 2))(q, k, v)
    assert(close(nn.block_attention(q, k, v, causal, size), a), "by blocks the same value")
    for (i in 0..3) { assert(close(ga[i], gb[i]), "by blocks the same gradient") }
  }
}
later = k
later[:, 5:, :] = 100
print(close(nn.dot_attention(q, k, v, true)[:, :5, :], nn.dot_attention(q, later, v, true)[:, :5, :]))  # expect: true
print(close(nn.dot_attention(q, k, v, true)[:, 0, :], v[:, 0, :]))     # expect: true

p = nn.attention_init(4)
print(right(fn(p) = sum(weight * nn.attention(p, x, heads = 2, causal = true)), p))  # expect: true
print(close(nn.attention(p, x, heads = 2, causal = true), nn.attention(p, x, heads = 2, causal = true, block = 2)))  # expect: true
print(shape(nn.attention(p, x, to = randn(2, 9, 4))))                  # expect: (2, 5, 4)
print(try(fn() = nn.attention(p, x, heads = 3))[1])                    # expect: 4 features do not split into 3 heads
p = nn.transformer_init(4, 8)
print(right(fn(p) = sum(weight * nn.transformer(p, x, heads = 2)), p)) # expect: true

# Cells, along the first axis.
xs = randn(6, 3, 4)
p = nn.rnn_init(4, 5)
(h, hs) = nn.rnn(p, xs, zeros(3, 5))
print(shape(hs), same(h, hs[-1]), close(hs[0], tanh(xs[0] @ p.x)))     # expect: (6, 3, 5) true true
print(right(fn(p) = sum(nn.rnn(p, xs, zeros(3, 5))[0]), p))            # expect: true
p = nn.gru_init(4, 5)
print(right(fn(p) = sum(nn.gru(p, xs, zeros(3, 5))[1] ^ 2), p))        # expect: true
p = nn.lstm_init(4, 5)
(s, hs) = nn.lstm(p, xs, {h: zeros(3, 5), c: zeros(3, 5)})
print(shape(s.c), same(s.h, hs[-1]))                                   # expect: (3, 5) true
print(right(fn(p) = sum(nn.lstm(p, xs, {h: zeros(3, 5), c: zeros(3, 5)})[1] ^ 2), p))  # expect: true

# Losses.
logits = f64([[1, 2, 3], [0, 0, 0]])
labels = i64([2, 0])
print(format("{:.12f}", nn.cross_entropy(logits, labels)))             # expect: 0.753109126556
print(close(nn.cross_entropy(logits, labels), nn.cross_entropy(logits, one_hot(labels, 3))))  # expect: true
print(right(fn(x) = nn.cross_entropy(x, labels), logits))              # expect: true
print(nn.accuracy(logits, i64([2, 1])))                                # expect: 0.5
(y, t) = (f64([0.9, 0.2]), f64([1, 0]))
print(format("{:.12f}", nn.bce(y, t)))                                 # expect: 0.164252033486
print(close(nn.bce_logits(log(y / (1 - y)), t), nn.bce(y, t)))         # expect: true
print(nn.bce(f64([1, 0]), t) == 0)                                     # expect: true
print(nn.mse(f64([1, 3]), f64([0, 0])), nn.mae(f64([1, -3]), f64([0, 0])))  # expect: 5 2
print(nn.huber(f64([0.5, 3]), f64([0, 0])), nn.hinge(f64([0.5, 2]), f64([1, 1])))  # expect: 1.3125 0.25
