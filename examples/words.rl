# words.rl: a model of characters learns how names of animals are spelt, and makes up new ones.

import "nn" as nn
import "optim" as optim

folder = if (exists("data/animals.txt")) { "data/" } else { "examples/data/" }
words = split(trim(read_text(folder + "animals.txt")), "\n")
context = 4
letters = 27                                   # a to z; 0 is the end of a word, and what stands before it

# Every letter with the `context` letters before it.
fn examples(words) {
  (x, y) = ((), ())
  for (w in words) {
    codes = concat((i64(zeros(context)), ord(w) - 96, i64([0])))
    for (i in context..len(codes)) {
      x = append(x, codes[i - context : i])
      y = append(y, codes[i])
    }
  }
  (stack(x), stack(y))
}
(x, y) = examples(words)

fn model(p, x) {
  v = reshape(nn.embedding(p.letters, x), (-1, context * 12))
  nn.dense(p.out, tanh(nn.dense(p.hidden, v)))
}
fn loss(p) = nn.cross_entropy(model(p, x), y)

seed(3)
p = {letters: nn.embedding_init(letters, 12), hidden: nn.dense_init(context * 12, 64), out: nn.dense_init(64, letters)}
print(format("{} words, {} letters; loss before: {:.2f}", len(words), len(y), loss(p)))
opt = optim.adam(lr = 1e-2)
s = opt.init(p)
for (step in 0..150) {
  (p, s) = opt.step(p, grad(loss)(p), s)
}
print(format("loss after: {:.2f}", loss(p)))

fn make_up() {
  word = ""
  last = i64(zeros(context))
  for (i in 0..14) {
    c = choice(letters, p = softmax(model(p, last[none, :])[0] * 1.3))
    if (c == 0) { break }
    word = word + chr(96 + c)
    last = append(last[1:], c)
  }
  word
}
for (i in 0..5) { print(make_up()) }
assert(loss(p) < 1.5, "a loss below 1.5 was expected")

# expect: <*> words, <*> letters; loss before: 3.<*>
# expect: loss after: <*>
# expect: <*>
# expect: <*>
# expect: <*>
# expect: <*>
# expect: <*>
