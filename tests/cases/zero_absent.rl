# zero_absent.rl: a cotangent or tangent that is not there leaves no number behind: no 0 that turns -0 into 0, none
# that is multiplied by inf. So blocks, branches and plain text give the same signs of zero and the same nan.

fn plain(a, b, c) { q = a * 1.0; c[1] = mean(b); c = sign(c); d = cos(c); q + b }
fn branches(a, b, c) { q = a * 1.0; c[1] = mean(b); if (true) { c = sign(c) }; t = if (true) { d = cos(c); q }; t + b }
fn blocks(a, b, c) { q = a * 1.0; c[1] = mean(b); checkpoint < c = sign(c) >; t = checkpoint < d = cos(c); q >; t + b }
fn kept(a, b, c) { q = a * 1.0; c[1] = mean(b); c = sign(c); t = checkpoint (save = "everything") < d = cos(c); q >; t + b }
fn slopes(f) = grad(fn(a, b, c) = -relu(f(a, b, c)), wrt = (0, 1, 2))(1.5, -4.0, ones(4))
print(same(slopes(plain), slopes(branches)), same(slopes(plain), slopes(blocks)), same(slopes(plain), slopes(kept)))   # expect: true true true
print(slopes(blocks)[1])                                     # expect: -0

# a gradient that is 0 within, and a quotient by it
fn inner(a, c, block) {
  if (block) {
    checkpoint < y = 1 / (a @ expand(grad(fn(v) = 1.0)(c), 2)) >
  } else { y = 1 / (a @ expand(grad(fn(v) = 1.0)(c), 2)) }
  sum(y)
}
for (block in (true, false)) { print(hvp(fn(a) = inner(a, 2.0, block), ones(2, 2), ones(2, 2))[0]) }
# expect: [0, 0]
# expect: [0, 0]

# what a rule makes of a tangent that is not there, beside inf
fn product(a, b, block) {
  if (block) {
    checkpoint < y = a @ (full((3, 1), -inf) @ (prod(expand(b, (1, 1, 4)), axis = (1)))[:, ::2]) >
  } else { y = a @ (full((3, 1), -inf) @ (prod(expand(b, (1, 1, 4)), axis = (1)))[:, ::2]) }
  sum(y)
}
for (block in (true, false)) { print(hvp(fn(a) = product(a, 1.0, block), ones(2, 3), ones(2, 3))[0]) }
# expect: [0, 0, 0]
# expect: [0, 0, 0]
