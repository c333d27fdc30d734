# transformer.rl: a small causal transformer learns to write six digits backwards. Each layer is a block:
# a gradient keeps what goes from layer to layer and makes the scores of attention again.

import "nn" as nn
import "optim" as optim

seed(1)
(digits, layers, d, heads, batch) = (6, 2, 32, 4, 32)
bar = i64(10)                              # the sign between a sequence and its reverse

# "314159|951413": what is read, and what comes next in it.
fn problem() {
  a = randint(0, 10, batch, digits)
  text = concat((a, full((batch, 1), bar), a[:, ::-1]), axis = 1)
  (text[:, :-1], text[:, 1:])
}

fn model(p, text) {
  x = nn.embedding(p.token, text) + p.place[:shape(text)[1]]
  for (layer in p.layers) {
    checkpoint < x = nn.transformer(layer, x, heads, causal = true) >
  }
  nn.dense(p.out, nn.layer_norm(p.norm, x))[:, digits:, :]     # what follows the bar
}
fn loss(p, text, next) = nn.cross_entropy(model(p, text), next[:, digits:])

p = {
  token: nn.embedding_init(11, d), place: 0.1 * randn(2 * digits, d),
  layers: nn.layers(layers, fn() = nn.transformer_init(d, 4 * d)),
  norm: nn.layer_norm_init(d), out: nn.dense_init(d, 11),
}
opt = optim.adam(lr = optim.warmup(optim.cosine(3e-3, 200), 20))
s = opt.init(p)
for (i in 0..201) {
  (text, next) = problem()
  (l, g) = value_and_grad(loss)(p, text, next)
  if (i % 50 == 0) {
    print(format("step {:3d}  loss {:.4f}  digits right {:.3f}", i, l, nn.accuracy(model(p, text), next[:, digits:])))
  }
  (p, s) = opt.step(p, optim.clip_by_norm(g, 1), s)
}

# Write one backwards, digit by digit, each time reading what it wrote.
text = i64([3, 1, 4, 1, 5, 9, 10])
for (k in 0..digits) { text = append(text, argmax(model(p, text[none, :])[0, -1])) }
print("314159 backwards is", join(map(fn(c) = format("{}", c), (text[digits + 1:],)...)))

# expect: step   0  loss 2.8794  digits right 0.104
# expect: step  50  loss 0.4032  digits right 0.901
# expect: step 100  loss 0.0069  digits right 1.000
# expect: step 150  loss 0.0050  digits right 1.000
# expect: step 200  loss 0.0048  digits right 1.000
# expect: 314159 backwards is 951413
