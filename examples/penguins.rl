# penguins.rl: a deep network learns to tell three species of penguins apart, first plainly, then with a
# checkpoint block around each layer. The memory falls; every number stays the same to the last bit.

import "nn" as nn
import "optim" as optim
import "data" as data

folder = if (exists("data/penguins.csv")) { "data/" } else { "examples/data/" }

# The table, without the birds that miss a measurement; four numbers for each, and its species.
table = data.complete(load(folder + "penguins.csv"))
measures = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
x = data.normalise(data.columns(table, measures))
(y, species) = data.codes(table.species)
seed(1)
(train, test) = data.split({x: x, y: y}, 0.8)
print(format("{} penguins of the species {}", len(y), join(species, ", ")))
print(format("{} to learn from, {} to test with", len(train.y), len(test.y)))

# 24 layers, each of which adds something to what goes through it.
(depth, width) = (24, 16)
fn layer(p, h) = h + nn.dense(p.down, gelu(nn.dense(p.up, nn.layer_norm(p.norm, h))))

fn plain(p, x) {
  h = nn.dense(p.enter, x)
  for (q in p.layers) { h = layer(q, h) }
  nn.dense(p.leave, h)
}

fn blocks(p, x) {
  h = nn.dense(p.enter, x)
  for (q in p.layers) { checkpoint < h = layer(q, h) > }     # all the difference there is
  nn.dense(p.leave, h)
}

fn start() = {
  enter: nn.dense_init(4, width),
  layers: nn.layers(depth, fn() = {
    norm: nn.layer_norm_init(width), up: nn.dense_init(width, 2 * width), down: nn.dense_init(2 * width, width),
  }),
  leave: nn.dense_init(width, len(species)),
}

# Trains on all of the training set at once; gives the parameters and the losses on the way.
fn learn(model) {
  seed(2)
  p = start()
  opt = optim.adam(lr = optim.cosine(1e-3, 60))
  s = opt.init(p)
  losses = ()
  for (epoch in 1..61) {
    (loss, g) = value_and_grad(fn(p) = nn.cross_entropy(model(p, train.x), train.y))(p)
    (p, s) = opt.step(p, optim.clip_by_norm(g, 1), s)
    losses = append(losses, loss)
    if (epoch == 1 or epoch % 10 == 0) {
      print(format("  epoch {:2d}   loss {:.4f}   right: {:5.1%} of training set, {:5.1%} of test set", epoch, loss,
                   nn.accuracy(model(p, train.x), train.y), nn.accuracy(model(p, test.x), test.y)))
    }
  }
  {p: p, losses: losses}
}

print("\nwithout blocks")
a = measure(fn() = learn(plain))
print("\nwith a block around each layer")
b = measure(fn() = learn(blocks))

fn row(what, a, b) = print(format("{:<34}{:>16}{:>16}", what, a, b))
fn mb(bytes) = format("{:.2f} MB", bytes / 1e6)
print()
row("", "without blocks", "with blocks")
row("most memory in use", mb(a.peak_bytes), mb(b.peak_bytes))
row("of it, kept for the adjoint program", mb(a.saved_peak_bytes), mb(b.saved_peak_bytes))
row("blocks replayed", sum(a.replays), sum(b.replays))
print()
print("all losses the same to the last bit:    ", same(a.value.losses, b.value.losses))
print("all parameters the same to the last bit:", same(a.value.p, b.value.p))
assert(b.peak_bytes < a.peak_bytes / 2, "blocks should halve the memory here")

# expect: 342 penguins of the species Adelie, Gentoo, Chinstrap
# expect: 274 to learn from, 68 to test with
# expect:
# expect: without blocks
# expect:   epoch  1   loss 4.8338   right: 42.7% of training set, 42.6% of test set
# expect:   epoch 10   loss 0.0416   right: 99.3% of training set, 100.0% of test set
# expect:   epoch 20   loss 0.0087   right: 99.6% of training set, 100.0% of test set
# expect:   epoch 30   loss 0.0032   right: 100.0% of training set, 100.0% of test set
# expect:   epoch 40   loss 0.0018   right: 100.0% of training set, 100.0% of test set
# expect:   epoch 50   loss 0.0014   right: 100.0% of training set, 100.0% of test set
# expect:   epoch 60   loss 0.0013   right: 100.0% of training set, 100.0% of test set
# expect:
# expect: with a block around each layer
# expect:   epoch  1   loss 4.8338   right: 42.7% of training set, 42.6% of test set
# expect:   epoch 10   loss 0.0416   right: 99.3% of training set, 100.0% of test set
# expect:   epoch 20   loss 0.0087   right: 99.6% of training set, 100.0% of test set
# expect:   epoch 30   loss 0.0032   right: 100.0% of training set, 100.0% of test set
# expect:   epoch 40   loss 0.0018   right: 100.0% of training set, 100.0% of test set
# expect:   epoch 50   loss 0.0014   right: 100.0% of training set, 100.0% of test set
# expect:   epoch 60   loss 0.0013   right: 100.0% of training set, 100.0% of test set
# expect:
# expect:                                     without blocks     with blocks
# expect: most memory in use <*> MB <*> MB
# expect: of it, kept for the adjoint program <*> MB <*> MB
# expect: blocks replayed                                  0            1440
# expect:
# expect: all losses the same to the last bit:     true
# expect: all parameters the same to the last bit: true
