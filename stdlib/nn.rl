# nn.rl: layers, attention, recurrent cells and losses, as plain functions of plain records.
#
# A layer is two functions: `p = nn.dense_init(m, n)` draws its parameters, a record of arrays, and
# `y = nn.dense(p, x)` applies them. Inputs may have any number of leading axes; features are the last
# one. A layer with running state gives (y, state). Nothing here is special to the language: a model is
# a record of such records, and grad goes through all of it.

# --- initial values -------------------------------------------------------------------------------

# glorot(m, n): an m by n matrix, even over the width that keeps the variance of what passes through it
# forwards and backwards (Glorot and Bengio, 2010); for tanh and sigmoid.
fn glorot(m, n) = (2 * rand(m, n) - 1) * sqrt(6 / (m + n))

# he(m, n): an m by n normal matrix of variance 2 / m (He et al., 2015); for relu.
fn he(m, n) = randn(m, n) * sqrt(2 / m)

# lecun(m, n): an m by n normal matrix of variance 1 / m (LeCun et al., 1998).
fn lecun(m, n) = randn(m, n) * sqrt(1 / m)

# --- layers ---------------------------------------------------------------------------------------

# dense_init(m, n): parameters {w: [m, n], b: [n]} of a layer from m to n features.
fn dense_init(m, n, init = glorot) = {w: init(m, n), b: zeros(n)}

# dense(p, x): x @ w + b; x is [..., m], the result [..., n].
fn dense(p, x) = x @ p.w + p.b

# mlp_init(sizes): a tuple of dense layers, one between each two sizes: mlp_init((8, 32, 3)) has two.
fn mlp_init(sizes, init = he) {
  p = ()
  for (i in 1..len(sizes)) { p = append(p, dense_init(sizes[i - 1], sizes[i], init)) }
  p
}

# mlp(p, x): the layers of p one after the other, act between them.
fn mlp(p, x, act = relu) {
  for ((i, layer) in enumerate(p)) {
    x = dense(layer, x)
    if (i < len(p) - 1) { x = act(x) }
  }
  x
}

# conv_init(c, o, size): parameters {w: [o, c / groups, size, size], b: [o]} of a convolution from c to o channels;
# size is a number, or the pair (rows, columns).
fn conv_init(c, o, size = 3, groups = 1) {
  (rows, columns) = if (type(size) == "tuple") { size } else { (size, size) }
  fan = c // groups * rows * columns
  {w: randn(o, c // groups, rows, columns) * sqrt(2 / fan), b: zeros(o)}
}

# conv(p, x): x: [n, c, height, width] convolved with p.w, plus p.b for each channel (see conv2d).
fn conv(p, x, stride = 1, padding = "same", dilation = 1, groups = 1) =
  conv2d(x, p.w, stride, padding, dilation, groups) + p.b[:, none, none]

# conv1_init(c, o, size): parameters of a convolution along sequences [n, c, length].
fn conv1_init(c, o, size = 3, groups = 1) = {w: randn(o, c // groups, size) * sqrt(2 / (c // groups * size)), b: zeros(o)}

# conv1(p, x): x: [n, c, length] convolved with p.w, plus p.b (see conv1d).
fn conv1(p, x, stride = 1, padding = "same", dilation = 1, groups = 1) =
  conv1d(x, p.w, stride, padding, dilation, groups) + p.b[:, none]

# layers(n, make): a tuple of n layers, each what make() draws.
fn layers(n, make) {
  p = ()
  for (i in 0..n) { p = append(p, make()) }
  p
}

# embedding_init(count, d): a vector of d features for each of count things.
fn embedding_init(count, d) = {table: randn(count, d) / sqrt(d)}

# embedding(p, ids): the vectors of the things ids, whole numbers: [...] gives [..., d].
fn embedding(p, ids) = p.table[ids]

# positions(n, d): n by d waves that tell places in a sequence apart (Vaswani et al., 2017); d is even.
fn positions(n, d) {
  angle = (0..n)[:, none] / 10000.0 ^ ((0..d // 2)[none, :] * 2.0 / d)
  concat((sin(angle), cos(angle)), axis = 1)
}

# layer_norm_init(d): scale 1 and shift 0 for d features.
fn layer_norm_init(d) = {scale: ones(d), shift: zeros(d)}

# layer_norm(p, x): each vector of features brought to mean 0 and variance 1, then scaled and shifted.
fn layer_norm(p, x, eps = 1e-5) {
  centred = x - mean(x, axis = -1, keepdims = true)
  variance = mean(centred * centred, axis = -1, keepdims = true)
  centred / sqrt(variance + eps) * p.scale + p.shift
}

# rms_norm(p, x): layer_norm without centring and shift; p has the field scale.
fn rms_norm(p, x, eps = 1e-6) = x / sqrt(mean(x * x, axis = -1, keepdims = true) + eps) * p.scale

# batch_norm_init(d): scale 1 and shift 0 for d features.
fn batch_norm_init(d) = {scale: ones(d), shift: zeros(d)}

# batch_norm_state(d): the running mean and variance that batch_norm starts from.
fn batch_norm_state(d) = {mean: zeros(d), var: ones(d)}

# batch_norm(p, x, state): gives (y, state). In training each feature is normalised by its mean and
# variance over the batch x: [..., d], and the running ones move towards them; else by the running ones.
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
fn dropout(x, rate = 0.5, train = true) {
  if (not train) { return x }
  where(rand(shape(x)) < rate, 0, x / (1 - rate))
}

# --- attention ------------------------------------------------------------------------------------

# scores(q, k): how well each query fits each key: [..., n, d] and [..., m, d] give [..., n, m]. With
# causal, key j is out of reach (minus infinity) for query i < j; the first query is number `first`.
fn scores(q, k, causal = false, first = 0, first_key = 0) {
  s = q @ k' / sqrt(shape(q)[-1])
  if (not causal) { return s }
  i = first + (0..shape(q)[-2])[:, none]
  j = first_key + (0..shape(k)[-2])[none, :]
  where(j > i, -inf, s)
}

# dot_attention(q, k, v): for each query the mean of the values v, weighted by how its key fits.
fn dot_attention(q, k, v, causal = false) = softmax(scores(q, k, causal), axis = -1) @ v

# block_attention(q, k, v): dot_attention without ever holding all scores. Queries and keys go by blocks
# of `size`; softmax is summed up as keys come (Milakov and Gimelshein, 2018; Rabe and Staats, 2021).
# Both loops are checkpointed, so that a gradient holds one block of scores at a time as well: memory
# grows with the length of the sequence, not with its square.
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
fn attention(p, x, heads = 1, causal = false, to = none, block = 0) {
  source = if (to == none) { x } else { to }
  q = _split_heads(dense(p.q, x), heads)
  k = _split_heads(dense(p.k, source), heads)
  v = _split_heads(dense(p.v, source), heads)
  y = if (block > 0) { block_attention(q, k, v, causal, block) } else { dot_attention(q, k, v, causal) }
  dense(p.out, _join_heads(y))
}

# transformer_init(d, hidden): a transformer layer: attention, then two dense layers over each place.
fn transformer_init(d, hidden) = {
  norm1: layer_norm_init(d), attention: attention_init(d),
  norm2: layer_norm_init(d), up: dense_init(d, hidden, he), down: dense_init(hidden, d),
}

# transformer(p, x): x plus what attention adds, plus what the dense layers add; x: [..., n, d].
fn transformer(p, x, heads = 1, causal = true, block = 0) {
  x = x + attention(p.attention, layer_norm(p.norm1, x), heads, causal, block = block)
  x + dense(p.down, gelu(dense(p.up, layer_norm(p.norm2, x))))
}

# --- recurrent cells ------------------------------------------------------------------------------
# A cell takes its state and one input to the next state. `rnn`, `gru` and `lstm` run one along the first
# axis of xs: [steps, ..., d] and give (last state, outputs: [steps, ..., h]).

# rnn_init(d, h): a plain cell from d inputs to h features of state.
fn rnn_init(d, h) = {x: glorot(d, h), h: glorot(h, h), b: zeros(h)}

# rnn_cell(p, h, x): tanh of the state and the input, each times its matrix.
fn rnn_cell(p, h, x) = tanh(x @ p.x + h @ p.h + p.b)

# gru_init(d, h): a cell with gates (Cho et al., 2014) from d inputs to h features of state.
fn gru_init(d, h) = {reset: rnn_init(d, h), keep: rnn_init(d, h), new: rnn_init(d, h)}

# gru_cell(p, h, x): a new state, seen past the reset gate, mixed with the old one as the keep gate says.
fn gru_cell(p, h, x) {
  reset = sigmoid(x @ p.reset.x + h @ p.reset.h + p.reset.b)
  keep = sigmoid(x @ p.keep.x + h @ p.keep.h + p.keep.b)
  new = tanh(x @ p.new.x + (reset * h) @ p.new.h + p.new.b)
  keep * h + (1 - keep) * new
}

# lstm_init(d, h): a cell with memory (Hochreiter and Schmidhuber, 1997); it begins by remembering.
fn lstm_init(d, h) {
  p = {enter: rnn_init(d, h), forget: rnn_init(d, h), new: rnn_init(d, h), show: rnn_init(d, h)}
  p.forget.b += 1
  p
}

# lstm_cell(p, s, x): the state s is {h, c}: what the cell shows and what it remembers.
fn lstm_cell(p, s, x) {
  enter = sigmoid(x @ p.enter.x + s.h @ p.enter.h + p.enter.b)
  forget = sigmoid(x @ p.forget.x + s.h @ p.forget.h + p.forget.b)
  new = tanh(x @ p.new.x + s.h @ p.new.h + p.new.b)
  show = sigmoid(x @ p.show.x + s.h @ p.show.h + p.show.b)
  c = forget * s.c + enter * new
  {h: show * tanh(c), c: c}
}

# rnn(p, xs, h): an rnn_cell along xs, from the state h.
fn rnn(p, xs, h) {
  hs = ()
  for (x in xs) {
    h = rnn_cell(p, h, x)
    hs = append(hs, h)
  }
  (h, stack(hs))
}

# gru(p, xs, h): a gru_cell along xs, from the state h.
fn gru(p, xs, h) {
  hs = ()
  for (x in xs) {
    h = gru_cell(p, h, x)
    hs = append(hs, h)
  }
  (h, stack(hs))
}

# lstm(p, xs, s): an lstm_cell along xs, from the state s = {h, c}.
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
# class. labels: whole numbers [...], or a weight for each class [..., classes] (one-hot, or smoothed).
fn cross_entropy(logits, labels) {
  p = log_softmax(logits, axis = -1)
  if (rank(labels) == rank(logits)) { return -mean(sum(labels * p, axis = -1)) }
  -mean(take_along(p, i64(labels)[..., none]))
}

# accuracy(logits, labels): how often the largest of the logits is that of the label, a whole number.
fn accuracy(logits, labels) = mean(argmax(logits, axis = -1) == labels)

# bce(p, t): binary cross-entropy of probabilities p and targets t in [0, 1].
fn bce(p, t) = -mean(xlogy(t, p) + xlogy(1 - t, 1 - p))

# bce_logits(x, t): the same for p = sigmoid(x), exact where p is close to 0 or 1.
fn bce_logits(x, t) = mean(bce_with_logits(x, t))

# mse(y, t): the mean squared error.
fn mse(y, t) = mean((y - t) ^ 2)

# mae(y, t): the mean absolute error.
fn mae(y, t) = mean(abs(y - t))

# huber(y, t): squared error near 0, absolute error beyond delta.
fn huber(y, t, delta = 1) {
  e = abs(y - t)
  mean(where(e < delta, e * e / 2, delta * (e - delta / 2)))
}

# hinge(y, t): how far y is short of being beyond 1 on the side of t, which is -1 or 1.
fn hinge(y, t) = mean(relu(1 - y * t))
