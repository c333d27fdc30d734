# Second derivatives through the modules: hvp against differences of gradients, and against reverse over reverse.
import "nn" as nn
import "optim" as optim
import "ode" as ode
import "linalg" as linalg
seed(1)
fn second(what, f, x) {
  v = tree_map(fn(a) = randn(shape(a)), x)
  h = flatten(hvp(f, x, v))
  e = 1e-5
  d = (flatten(grad(f)(x + e * v)) - flatten(grad(f)(x - e * v))) / (2 * e)
  r = flatten(grad(fn(x) = sum(flatten(grad(f)(x)) * flatten(v)))(x))
  size = 1e-9 + max(abs(h))
  assert(max(abs(h - d)) / size < 1e-4, what + ": differences")
  assert(max(abs(h - r)) / size < 1e-10, what + ": reverse over reverse")
  assert(abs(jvp(f, (x,), (v,))[1] - sum(flatten(grad(f)(x)) * flatten(v))) < 1e-10, what + ": jvp and vjp")
}
x = randn(3, 5, 4)
w = randn(3, 5, 4)
second("mlp", fn(p) = sum(nn.mlp(p, x, tanh) ^ 2), nn.mlp_init((4, 3, 2)))
second("layer_norm", fn(x) = sum(w * nn.layer_norm(nn.layer_norm_init(4), x)), x)
second("batch_norm", fn(x) = sum(w * nn.batch_norm(nn.batch_norm_init(4), x, nn.batch_norm_state(4))[0]), x)
second("block_attention", fn(q) = sum(w * nn.block_attention(q[0], q[1], q[2], true, checkpoint(slots = 2) < for (i in 0..5) { 2 } >)), (x, w, x * w))
second("transformer", fn(p) = sum(w * nn.transformer(p, x, heads = 2, block = 2)), nn.transformer_init(4, 8))
xs = randn(6, 3, 4)
second("gru", fn(p) = sum(nn.gru(p, xs, zeros(3, 5))[0]), nn.gru_init(4, 5))
second("lstm", fn(p) = sum(nn.lstm(p, xs, {h: zeros(3, 5), c: zeros(3, 5)})[1]), nn.lstm_init(4, 5))
labels = randint(0, 4, 3, 5)
second("cross_entropy", fn(x) = nn.cross_entropy(x, labels), x)
fn orbit(t, s) = {q: s.v, v: -s.q / norm(s.q) ^ 3}
start = {q: f64([1, 0.1]), v: f64([0.1, 1])}
second("rk4", fn(s) = sum(ode.rk4(orbit, s, linspace(0, 3, 4), steps = 10).q ^ 2), start)
second("leapfrog", fn(s) = sum(ode.leapfrog(fn(q) = -sin(q), s[0], s[1], linspace(0, 3, 4))[0]), randn(2, 3))
b = randn(3, 3)
second("expm", fn(a) = sum(sin(linalg.expm(a))), b)
second("gram_schmidt", fn(a) = sum(linalg.gram_schmidt(a)[:, 2]), b)
second("conjugate_gradient", fn(a) = sum(linalg.conjugate_gradient(a' @ a + eye(3), b[0], 1e-14)), b)
second("adam", fn(x) = sum(optim.minimize(fn(y) = sum((y - x) ^ 4), zeros(3), optim.adam(0.1), 10)), b[0])
second("lbfgs", fn(x) = sum(optim.lbfgs(fn(y) = sum((y - x) ^ 4), zeros(3), steps = 3).p), b[0])
print("done")   # expect: done
