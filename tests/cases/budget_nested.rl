# A loop's part under a budget, which holds a block within a block: what the blocks mean is no part of it.
# options: --budget 1GB
fn outs(p) {
  v5 = p.t[0]
  if (true) {
    v9 = ((0.5 * ones(4, 1)) @ p.t[1])
  }
  checkpoint <
    print("t10", (checkpoint <
      v5
    >), (0.5 * ones(1, 1)))
    v9[2:] *= cos(0.5)
  >
  0.5
  if (true) {
    for (j15 in 0..12) {
      p = {a: 0.5, b: v9, w: (0.5 * ones(1, 4)), q: none, t: (0.5, tanh(p.t[1]))}
    }
  }
  (p.t[0], (0.5 * ones(4)))
}
fn loss(p) {
  (s, o) = outs(p)
  sin(s) + s + sum([-0.4229, -1.3269, -0.2771, -0.4757] * o)
}
v = {a: (-0.3869), b: [1.3905, -1.1653, -1.4333, 0.9411], w: [[0.9313, -0.4975, -1.2187, 0.9319]], q: {c: [0.5757, -1.4433, 0.5201, 0.9531]}, t: (1.4623, [-0.3617])}
w = {a: (-1.3223), b: [0.1787, -0.6301, -1.3425, 0.2157], w: [[1.1885, 0.1727, 0.8511, 0.9905]], q: {c: [-0.2673, 0.5643, -0.4437, -0.5523]}, t: (0.6989, [0.5503])}
fn at(s) = {a: (-0.5563) + s * v.a, b: [0.0381, 1.1419, 1.4065, 0.0855] + s * v.b, w: [[-0.1273, 1.4415, 0.1271, -1.4203]] + s * v.w, q: {c: [-0.0059, 0.1341, -0.2489, 0.2877] + s * v.q.c}, t: (1.2789 + s * v.t[0], [-1.1257] + s * v.t[1])}
fn beside(g) = 0 + sum(g.a * w.a) + sum(g.b * w.b) + sum(g.w * w.w) + sum(g.q.c * w.q.c) + sum(g.t[0] * w.t[0]) + sum(g.t[1] * w.t[1])
seed(560)
print("hvp", beside(hvp(loss, at(0.0), v)))
# expect: t10 1.2789 [[0.5]]
# expect: hvp 0
