# nn.rl: layers, attention, recurrent cells and losses, as plain functions of plain records.
#
# A layer is two functions: `p = nn.dense_init(m, n)` draws its parameters, a record of arrays, and
# `y = nn.dense(p, x)` applies them. Inputs may have any number of leading axes; features are the last
# one. A layer with running state gives (y, state). Nothing here is special to the language: a model is
# a record of such records, and grad goes through all of it.

# --- initial values -------------------------------------------------------------------------------

# glorot(m, n): an m by n matrix, even over the width that keeps the variance of what passes through it
# forwards and backwards (Glorot and Bengio, 2010); for tanh and sigmoid.
#   shape(nn.glorot(3, 2))  # (3, 2)
#   all(abs(nn.glorot(10, 14)) <= 0.5)  # true
fn glorot(m, n) = (2 * rand(m, n) - 1) * sqrt(6 / (m + n))

# he(m, n): an m by n normal matrix of variance 2 / m (He et al., 2015); for relu.
#   shape(nn.he(3, 2))  # (3, 2)
#   abs(std(nn.he(50, 200)) - 0.2) < 0.01  # true
fn he(m, n) = randn(m, n) * sqrt(2 / m)

# lecun(m, n): an m by n normal matrix of variance 1 / m (LeCun et al., 1998).
#   shape(nn.lecun(3, 2))  # (3, 2)
#   abs(std(nn.lecun(100, 100)) - 0.1) < 0.01  # true
fn lecun(m, n) = randn(m, n) * sqrt(1 / m)

# --- layers ---------------------------------------------------------------------------------------

# dense_init(m, n): parameters {w: [m, n], b: [n]} of a layer from m to n features.
#   shape(nn.dense_init(3, 2).w)  # (3, 2)
#   nn.dense_init(3, 2).b  # [0, 0]
fn dense_init(m, n, init = glorot) = {w: init(m, n), b: zeros(n)}

# dense(p, x): x @ w + b; x is [..., m], the result [..., n].
#   nn.dense({w: [[1, 2], [3, 4]], b: [10, 20]}, [1, 1])  # [14, 26]
#   shape(nn.dense(nn.dense_init(3, 2), ones(5, 3)))  # (5, 2)
fn dense(p, x) = x @ p.w + p.b

# mlp_init(sizes): a tuple of dense layers, one between each two sizes: mlp_init((8, 32, 3)) has two.
#   len(nn.mlp_init((8, 32, 3)))  # 2
#   shape(nn.mlp_init((8, 32, 3))[1].w)  # (32, 3)
fn mlp_init(sizes, init = he) {
  p = ()
  for (i in 1..len(sizes)) { p = append(p, dense_init(sizes[i - 1], sizes[i], init)) }
  p
}

# mlp(p, x): the layers of p one after the other, act between them; x: [..., m] gives [..., n].
#   nn.mlp(({w: [[1], [1]], b: [0]}, {w: [[2]], b: [1]}), [3, -1])  # [5]
#   shape(nn.mlp(nn.mlp_init((8, 32, 3)), ones(5, 8)))  # (5, 3)
fn mlp(p, x, act = relu) {
  for ((i, layer) in enumerate(p)) {
    x = dense(layer, x)
    if (i < len(p) - 1) { x = act(x) }
  }
  x
}

# conv_init(c, o, size): parameters {w: [o, c / groups, size, size], b: [o]} of a convolution from c to o channels;
# size is a number, or the pair (rows, columns).
#   shape(nn.conv_init(3, 16).w)  # (16, 3, 3, 3)
#   shape(nn.conv_init(4, 8, (1, 5), groups = 2).w)  # (8, 2, 1, 5)
fn conv_init(c, o, size = 3, groups = 1) {
  (rows, columns) = if (type(size) == "tuple") { size } else { (size, size) }
  fan = c // groups * rows * columns
  {w: randn(o, c // groups, rows, columns) * sqrt(2 / fan), b: zeros(o)}
}

# conv(p, x): x: [n, c, height, width] convolved with p.w, plus p.b for each of its o channels (see conv2d):
# [n, o, rows, columns], as many of these as there were, unless stride or padding say otherwise.
#   nn.conv({w: ones(1, 1, 3, 3), b: [0.5]}, ones(1, 1, 2, 2))  # [[[[4.5, 4.5], [4.5, 4.5]]]]
#   shape(nn.conv(nn.conv_init(3, 16), ones(2, 3, 8, 8), stride = 2))  # (2, 16, 4, 4)
fn conv(p, x, stride = 1, padding = "same", dilation = 1, groups = 1) =
  conv2d(x, p.w, stride, padding, dilation, groups) + p.b[:, none, none]

# conv1_init(c, o, size): parameters of a convolution along sequences [n, c, length].
#   shape(nn.conv1_init(3, 16).w)  # (16, 3, 3)
#   nn.conv1_init(3, 2, size = 5).b  # [0, 0]
fn conv1_init(c, o, size = 3, groups = 1) = {w: randn(o, c // groups, size) * sqrt(2 / (c // groups * size)), b: zeros(o)}

# conv1(p, x): x: [n, c, length] convolved with p.w, plus p.b (see conv1d): [n, o, places].
#   nn.conv1({w: ones(1, 1, 3), b: [0]}, [[[1, 2, 3, 4]]])  # [[[3, 6, 9, 7]]]
#   shape(nn.conv1(nn.conv1_init(3, 16), ones(2, 3, 10), padding = 0))  # (2, 16, 8)
fn conv1(p, x, stride = 1, padding = "same", dilation = 1, groups = 1) =
  conv1d(x, p.w, stride, padding, dilation, groups) + p.b[:, none]

# layers(n, make): a tuple of n layers, each what make() draws.
#   nn.layers(3, fn() = zeros(2))  # ([0, 0], [0, 0], [0, 0])
#   len(nn.layers(4, fn() = nn.dense_init(8, 8)))  # 4
fn layers(n, make) {
  p = ()
  for (i in 0..n) { p = append(p, make()) }
  p
}

# embedding_init(count, d): a vector of d features for each of count things.
#   shape(nn.embedding_init(10, 4).table)  # (10, 4)
#   keys(nn.embedding_init(10, 4))  # ("table",)
fn embedding_init(count, d) = {table: randn(count, d) / sqrt(d)}

# embedding(p, ids): the vectors of the things ids, whole numbers: [...] gives [..., d].
#   nn.embedding({table: [[1, 2], [3, 4]]}, i64([1, 0, 1]))  # [[3, 4], [1, 2], [3, 4]]
#   shape(nn.embedding(nn.embedding_init(10, 4), zeros_like(0..6)))  # (6, 4)
fn embedding(p, ids) = p.table[ids]

# positions(n, d): n by d waves that tell places in a sequence apart (Vaswani et al., 2017); d is even.
#   shape(nn.positions(5, 4))  # (5, 4)
#   nn.positions(2, 4)[0]  # [0, 0, 1, 1]
fn positions(n, d) {
  angle = (0..n)[:, none] / 10000.0 ^ ((0..d // 2)[none, :] * 2.0 / d)
  concat((sin(angle), cos(angle)), axis = 1)
}

# layer_norm_init(d): scale 1 and shift 0 for d features.
#   nn.layer_norm_init(2)  # {scale: [1, 1], shift: [0, 0]}
#   len(nn.layer_norm_init(5).scale)  # 5
fn layer_norm_init(d) = {scale: ones(d), shift: zeros(d)}

# layer_norm(p, x): each vector of features of x: [..., d] brought to mean 0 and variance 1, then scaled and shifted.
#   round(nn.layer_norm(nn.layer_norm_init(4), [1, 1, 5, 5]))  # [-1, -1, 1, 1]
#   shape(nn.layer_norm(nn.layer_norm_init(3), ones(2, 5, 3)))  # (2, 5, 3)
fn layer_norm(p, x, eps = 1e-5) {
  centred = x - mean(x, axis = -1, keepdims = true)
  variance = mean(centred * centred, axis = -1, keepdims = true)
  centred / sqrt(variance + eps) * p.scale + p.shift
}

# rms_norm(p, x): layer_norm without centring and shift, of x: [..., d]; p has the field scale.
#   nn.rms_norm({scale: [1, 2]}, [3, 3], eps = 0)  # [1, 2]
#   nn.rms_norm({scale: 10}, [3, 4], eps = 12.5)  # [6, 8]
fn rms_norm(p, x, eps = 1e-6) = x / sqrt(mean(x * x, axis = -1, keepdims = true) + eps) * p.scale

# batch_norm_init(d): scale 1 and shift 0 for d features.
#   nn.batch_norm_init(2)  # {scale: [1, 1], shift: [0, 0]}
#   len(nn.batch_norm_init(5).shift)  # 5
fn batch_norm_init(d) = {scale: ones(d), shift: zeros(d)}

# batch_norm_state(d): the running mean and variance that batch_norm starts from.
#   nn.batch_norm_state(2)  # {mean: [0, 0], var: [1, 1]}
#   len(nn.batch_norm_state(5).mean)  # 5
fn batch_norm_state(d) = {mean: zeros(d), var: ones(d)}

# batch_norm(p, x, state): gives (y, state). In training each feature is normalised by its mean and
# variance over the batch x: [..., d], and the running ones move towards them; else by the running ones.
#   nn.batch_norm({scale: 1, shift: 0}, [[1, 4], [3, 8]], nn.batch_norm_state(2), eps = 0)[0]  # [[-1, -1], [1, 1]]
#   nn.batch_norm({scale: 1, shift: 0}, [[1], [3]], nn.batch_norm_state(1), momentum = 0)[1]  # {mean: [2], var: [1]}
fn batch_norm(p, x, state, train = true, momentum = 0.9, eps = 1e-5) {
  if (train) {
    rows = reshape(x, (-1, shape(x)[-1]))
    m = mean(rows, axis = 0)
    v = var(rows, axis = 0)
    state = stop_grad({
      mean: momentum * state.mean + (1 - momentum) * m,
      var: momentum * state.var + (1 - momentum) * v,
    })
  } else {
    m = state.mean
    v = state.var
  }
  ((x - m) / sqrt(v + eps) * p.scale + p.shift, state)
}

# dropout(x): each element is 0 with probability rate, else divided by 1 - rate so that the mean stays.
#   nn.dropout([1, 2, 3], train = false)  # [1, 2, 3]
#   sum(nn.dropout(ones(100), rate = 0.75) == 4) < 50  # true
fn dropout(x, rate = 0.5, train = true) {
  if (not train) { return x }
  where(rand(shape(x)) < rate, 0, x / (1 - rate))
}

# --- attention ------------------------------------------------------------------------------------

# scores(q, k): how well each query fits each key: [..., n, d] and [..., m, d] give [..., n, m]. With
# causal, key j is out of reach (minus infinity) for query i < j; the first query is number `first`.
#   nn.scores([[1, 0, 0, 0]], [[2, 0, 0, 0], [4, 0, 0, 0]])  # [[1, 2]]
#   nn.scores(ones(2, 4), ones(2, 4), causal = true)  # [[2, -inf], [2, 2]]
fn scores(q, k, causal = false, first = 0, first_key = 0) {
  s = q @ k' / sqrt(shape(q)[-1])
  if (not causal) { return s }
  i = first + (0..shape(q)[-2])[:, none]
  j = first_key + (0..shape(k)[-2])[none, :]
  where(j > i, -inf, s)
}

# dot_attention(q, k, v): for each query the mean of the values v, weighted by how its key fits: [..., n, d],
# [..., m, d] and [..., m, e] give [..., n, e].
#   nn.dot_attention([[0, 0]], [[1, 2], [3, 4]], [[10, 20], [30, 40]])  # [[20, 30]]
#   nn.dot_attention(ones(2, 1), ones(2, 1), [[4], [8]], causal = true)  # [[4], [6]]
fn dot_attention(q, k, v, causal = false) = softmax(scores(q, k, causal), axis = -1) @ v

# block_attention(q, k, v): dot_attention without ever holding all scores. Queries and keys go by blocks
# of `size`; softmax is summed up as keys come (Milakov and Gimelshein, 2018; Rabe and Staats, 2021).
# Both loops are checkpointed, so that a gradient holds one block of scores at a time as well: memory
# grows with the length of the sequence, not with its square.
#   nn.block_attention([[0, 0]], [[1, 2], [3, 4]], [[10, 20], [30, 40]])  # [[20, 30]]
#   shape(nn.block_attention(ones(2, 9, 4), ones(2, 7, 4), ones(2, 7, 4), size = 3))  # (2, 9, 4)
fn block_attention(q, k, v, causal = false, size = 128) {
  n = shape(q)[-2]
  y = ()
  for (i in 0..(n + size - 1) // size) {
    yi = checkpoint < _attend(q[..., i * size : (i + 1) * size, :], k, v, causal, size, i * size) >
    y = append(y, yi)
  }
  concat(y, axis = -2)
}

# One block of queries, which begins at query `first`, against all keys, a block at a time.
fn _attend(q, k, v, causal, size, first) {
  reach = if (causal) { minimum(shape(k)[-2], first + shape(q)[-2]) } else { shape(k)[-2] }
  top = -inf      # of each query: the largest score so far,
  total = 0       # the sum of exp(score - top),
  y = 0           # and the sum of exp(score - top) * value
  for (j in 0..(reach + size - 1) // size) {
    checkpoint <
      s = scores(q, k[..., j * size : (j + 1) * size, :], causal, first, j * size)
      higher = stop_grad(maximum(top, max(s, axis = -1, keepdims = true)))
      w = exp(s - higher)
      shrink = exp(top - higher)        # what was summed is brought to the new top
      y = y * shrink + w @ v[..., j * size : (j + 1) * size, :]
      total = total * shrink + sum(w, axis = -1, keepdims = true)
      top = higher
    >
  }
  y / total
}

# attention_init(d): the four dense layers of attention over d features: query, key, value and out.
#   keys(nn.attention_init(8))  # ("q", "k", "v", "out")
#   shape(nn.attention_init(8).out.w)  # (8, 8)
fn attention_init(d) = {
  q: dense_init(d, d), k: dense_init(d, d), v: dense_init(d, d), out: dense_init(d, d),
}

# [..., n, d] as [..., heads, n, d / heads], and back.
fn _split_heads(x, heads) {
  d = shape(x)[-1]
  assert(d % heads == 0, format("{} features do not split into {} heads", d, heads))
  swap_axes(reshape(x, append(append(shape(x)[:-1], heads), d // heads)), -2, -3)
}
fn _join_heads(x) {
  x = swap_axes(x, -2, -3)
  reshape(x, append(shape(x)[:-2], -1))
}

# attention(p, x): multi-head attention of x: [..., n, d] to itself, or to `to`: [..., m, d]. causal: to
# nothing later than itself. block: a number of keys and queries at a time (see block_attention); 0: all.
#   shape(nn.attention(nn.attention_init(8), ones(2, 5, 8), heads = 2))  # (2, 5, 8)
#   shape(nn.attention(nn.attention_init(8), ones(5, 8), to = ones(9, 8)))  # (5, 8)
fn attention(p, x, heads = 1, causal = false, to = none, block = 0) {
  source = if (to == none) { x } else { to }
  dense(p.out, _attended(dense(p.q, x), dense(p.k, source), dense(p.v, source), heads, causal, block))
}

# Attention of queries, keys and values whose features are not split into heads yet.
fn _attended(q, k, v, heads, causal, block) {
  q = _split_heads(q, heads)
  k = _split_heads(k, heads)
  v = _split_heads(v, heads)
  _join_heads(if (block > 0) { block_attention(q, k, v, causal, block) } else { dot_attention(q, k, v, causal) })
}

# transformer_init(d, hidden): a transformer layer: attention, then two dense layers over each place.
#   keys(nn.transformer_init(8, 32))  # ("norm1", "attention", "norm2", "up", "down")
#   shape(nn.transformer_init(8, 32).up.w)  # (8, 32)
fn transformer_init(d, hidden) = {
  norm1: layer_norm_init(d), attention: attention_init(d),
  norm2: layer_norm_init(d), up: dense_init(d, hidden, he), down: dense_init(hidden, d),
}

# transformer(p, x): x plus what attention adds, plus what the dense layers add; x: [..., n, d].
#   shape(nn.transformer(nn.transformer_init(8, 32), ones(2, 5, 8), heads = 4))  # (2, 5, 8)
#   nn.transformer(tree_map(zeros_like, nn.transformer_init(2, 2)), [[3, 4]])  # [[3, 4]]
fn transformer(p, x, heads = 1, causal = true, block = 0) {
  # The same as with layer_norm, attention and dense; written out, for what is normalised or activated within one
  # function is computed again by the reverse pass, and what is handed to a call is saved: a third of all.
  a = p.attention
  c = x - mean(x, axis = -1, keepdims = true)
  z = c / sqrt(mean(c * c, axis = -1, keepdims = true) + 1e-5) * p.norm1.scale + p.norm1.shift
  y = _attended(z @ a.q.w + a.q.b, z @ a.k.w + a.k.b, z @ a.v.w + a.v.b, heads, causal, block)
  x = x + (y @ a.out.w + a.out.b)
  c = x - mean(x, axis = -1, keepdims = true)
  z = c / sqrt(mean(c * c, axis = -1, keepdims = true) + 1e-5) * p.norm2.scale + p.norm2.shift
  u = z @ p.up.w + p.up.b
  x + (gelu(u) @ p.down.w + p.down.b)
}

# --- recurrent cells ------------------------------------------------------------------------------
# A cell takes its state and one input to the next state. `rnn`, `gru` and `lstm` run one along the first
# axis of xs: [steps, ..., d] and give (last state, outputs: [steps, ..., h]).

# rnn_init(d, h): a plain cell from d inputs to h features of state.
#   shape(nn.rnn_init(3, 4).x)  # (3, 4)
#   shape(nn.rnn_init(3, 4).h)  # (4, 4)
fn rnn_init(d, h) = {x: glorot(d, h), h: glorot(h, h), b: zeros(h)}

# rnn_cell(p, h, x): tanh of the state h: [..., h] and the input x: [..., d], each times its matrix: [..., h].
#   nn.rnn_cell({x: [[1]], h: [[1]], b: [0]}, [2], [-2])  # [0]
#   shape(nn.rnn_cell(nn.rnn_init(3, 4), zeros(4), ones(3)))  # (4,)
fn rnn_cell(p, h, x) = tanh(x @ p.x + h @ p.h + p.b)

# gru_init(d, h): a cell with gates (Cho et al., 2014) from d inputs to h features of state.
#   keys(nn.gru_init(3, 4))  # ("reset", "keep", "new")
#   shape(nn.gru_init(3, 4).new.x)  # (3, 4)
fn gru_init(d, h) = {reset: rnn_init(d, h), keep: rnn_init(d, h), new: rnn_init(d, h)}

# gru_cell(p, h, x): a new state, seen past the reset gate, mixed with the old one as the keep gate says; shapes are
# those of rnn_cell.
#   nn.gru_cell(tree_map(zeros_like, nn.gru_init(1, 1)), [4], [9])  # [2]
#   shape(nn.gru_cell(nn.gru_init(3, 4), zeros(2, 4), ones(2, 3)))  # (2, 4)
fn gru_cell(p, h, x) {
  reset = sigmoid(x @ p.reset.x + h @ p.reset.h + p.reset.b)
  keep = sigmoid(x @ p.keep.x + h @ p.keep.h + p.keep.b)
  new = tanh(x @ p.new.x + (reset * h) @ p.new.h + p.new.b)
  keep * h + (1 - keep) * new
}

# lstm_init(d, h): a cell with memory (Hochreiter and Schmidhuber, 1997); it begins by remembering.
#   keys(nn.lstm_init(3, 4))  # ("enter", "forget", "new", "show")
#   nn.lstm_init(3, 2).forget.b  # [1, 1]
fn lstm_init(d, h) {
  p = {enter: rnn_init(d, h), forget: rnn_init(d, h), new: rnn_init(d, h), show: rnn_init(d, h)}
  p.forget.b += 1
  p
}

# lstm_cell(p, s, x): the state s is {h, c}: what the cell shows and what it remembers, both [..., h]; x: [..., d].
#   nn.lstm_cell(tree_map(zeros_like, nn.lstm_init(1, 1)), {h: [0], c: [4]}, [9]).c  # [2]
#   shape(nn.lstm_cell(nn.lstm_init(3, 4), {h: zeros(4), c: zeros(4)}, ones(3)).h)  # (4,)
fn lstm_cell(p, s, x) {
  enter = sigmoid(x @ p.enter.x + s.h @ p.enter.h + p.enter.b)
  forget = sigmoid(x @ p.forget.x + s.h @ p.forget.h + p.forget.b)
  new = tanh(x @ p.new.x + s.h @ p.new.h + p.new.b)
  show = sigmoid(x @ p.show.x + s.h @ p.show.h + p.show.b)
  c = forget * s.c + enter * new
  {h: show * tanh(c), c: c}
}

# rnn(p, xs, h): an rnn_cell along xs: [steps, ..., d], from the state h: (last state, [steps, ..., h]).
#   shape(nn.rnn(nn.rnn_init(3, 4), ones(7, 3), zeros(4))[1])  # (7, 4)
#   nn.rnn({x: [[0]], h: [[0]], b: [0]}, ones(2, 1), [5])  # ([0], [[0], [0]])
fn rnn(p, xs, h) {
  hs = ()
  for (x in xs) {
    h = rnn_cell(p, h, x)
    hs = append(hs, h)
  }
  (h, stack(hs))
}

# gru(p, xs, h): a gru_cell along xs: [steps, ..., d], from the state h: (last state, [steps, ..., h]).
#   shape(nn.gru(nn.gru_init(3, 4), ones(7, 2, 3), zeros(2, 4))[1])  # (7, 2, 4)
#   nn.gru(tree_map(zeros_like, nn.gru_init(1, 1)), ones(3, 1), [8])[1]  # [[4], [2], [1]]
fn gru(p, xs, h) {
  hs = ()
  for (x in xs) {
    h = gru_cell(p, h, x)
    hs = append(hs, h)
  }
  (h, stack(hs))
}

# lstm(p, xs, s): an lstm_cell along xs: [steps, ..., d], from the state s = {h, c}: (last state, [steps, ..., h]).
#   shape(nn.lstm(nn.lstm_init(3, 4), ones(7, 3), {h: zeros(4), c: zeros(4)})[1])  # (7, 4)
#   nn.lstm(tree_map(zeros_like, nn.lstm_init(1, 1)), ones(3, 1), {h: [0], c: [8]})[0].c  # [1]
fn lstm(p, xs, s) {
  hs = ()
  for (x in xs) {
    s = lstm_cell(p, s, x)
    hs = append(hs, s.h)
  }
  (s, stack(hs))
}

# --- losses: means over all that is not features --------------------------------------------------

# cross_entropy(logits, labels): minus the log of the probability that softmax(logits) gives to the right
# class, a mean over all but the last axis. logits: [..., classes]; labels: whole numbers [...], or a weight
# for each class [..., classes] (one-hot, or smoothed).
#   nn.cross_entropy([[0, 0], [0, 0]], i64([0, 1])) == log(2)  # true
#   nn.cross_entropy([[0, 0, 0, 0]], [[0.5, 0.5, 0, 0]]) == log(4)  # true
fn cross_entropy(logits, labels) {
  p = log_softmax(logits, axis = -1)
  if (rank(labels) == rank(logits)) { return -mean(sum(labels * p, axis = -1)) }
  -mean(take_along(p, i64(labels)[..., none]))
}

# accuracy(logits, labels): how often the largest of the logits is that of the label, a whole number.
#   nn.accuracy([[1, 2], [4, 3]], i64([1, 1]))  # 0.5
#   grad(fn(x) = nn.accuracy(x, i64([0])))([[1, 2]])  # [[0, 0]]
fn accuracy(logits, labels) = mean(argmax(logits, axis = -1) == labels)

# bce(p, t): binary cross-entropy of probabilities p and targets t in [0, 1]; a mean over all elements.
#   nn.bce([0.5, 0.5], [0, 1]) == log(2)  # true
#   nn.bce([0, 0.5], [0, 1]) == log(2) / 2  # true
fn bce(p, t) = -mean(xlogy(t, p) + xlogy(1 - t, 1 - p))

# bce_logits(x, t): the same for p = sigmoid(x), exact where p is close to 0 or 1.
#   nn.bce_logits([0, 0], [0, 1]) == log(2)  # true
#   nn.bce_logits([1000, -1000], [1, 0])  # 0
fn bce_logits(x, t) = mean(bce_with_logits(x, t))

# mse(y, t): the mean squared error over all elements, a scalar.
#   nn.mse([1, 2], [3, 2])  # 2
#   grad(nn.mse)([1, 2], [3, 2])  # [-2, 0]
fn mse(y, t) = mean((y - t) ^ 2)

# mae(y, t): the mean absolute error over all elements, a scalar.
#   nn.mae([1, 2], [4, 2])  # 1.5
#   grad(nn.mae)([1, 2], [4, 2])  # [-0.5, 0]
fn mae(y, t) = mean(abs(y - t))

# huber(y, t): squared error near 0, absolute error beyond delta; a mean over all elements.
#   nn.huber([0.5, 3], [0, 0])  # 1.3125
#   grad(nn.huber)([0.5, 3], [0, 0])  # [0.25, 0.5]
fn huber(y, t, delta = 1) {
  e = abs(y - t)
  mean(where(e < delta, e * e / 2, delta * (e - delta / 2)))
}

# hinge(y, t): how far y is short of being beyond 1 on the side of t, which is -1 or 1; a mean over all elements.
#   nn.hinge([0.5, 2], [1, 1])  # 0.25
#   nn.hinge([0.5, 2], [-1, 1])  # 0.75
fn hinge(y, t) = mean(relu(1 - y * t))
