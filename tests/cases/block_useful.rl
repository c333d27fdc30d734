# Blocks that save something get no warning, however little they save, and whatever else is large.
# quiet
w = sin(reshape(0..400, 20, 20))
x0 = sin(0..20)
fn stage(x) { checkpoint < for (j in 0..4) { x = tanh(w @ x) } >; x }
# called twice, in a loop, in recursion, by a map
g = grad(fn(x) = sum(stage(stage(x))))(x0)
g = grad(fn(x) { for (i in 0..3) { x = stage(x) }; sum(x) })(x0)
fn halves(x, n) { if (n == 1) { return tanh(w @ x) }; y = checkpoint < halves(x, n // 2) >; halves(y, n // 2) }
g = grad(fn(x) = sum(halves(x, i64(8))))(x0)
g = grad(fn(x) = sum(map(fn(k) { checkpoint < y = tanh(w @ tanh(w @ (x * k))) >; y }, (1.0, 2.0, 3.0))[0]))(x0)
# with weights, whose gradients take far more than what is kept
fn layers(ws, x) { for (i in 0..3) { checkpoint < x = tanh(ws[i] @ tanh(ws[i] @ x)) > }; sum(x) }
g = grad(layers)((w, w * 0.5, w * 0.25), x0)
# two, the second of which records less
fn uneven(x) { checkpoint < for (j in 0..9) { x = tanh(w @ x) } >; for (j in 0..2) { x = tanh(w @ x) }; sum(x) }
g = grad(uneven)(x0)
# one used now, and otherwise only forward; policies; scalars
print(sum(stage(x0)) > -100)                # expect: true
fn kept(x) { for (i in 0..4) { checkpoint (save = "dots") < for (j in 0..3) { x = tanh(sin(w @ x)) } > }; sum(x) }
g = grad(kept)(x0)
fn scalar(x) { checkpoint < x = sin(x) >; x }
g = grad(scalar)(1.0)
# whose pullback is kept, called twice, and not called
(y, back) = vjp(fn(x) = stage(stage(x)), x0)
g = (back(x0), back(y))
(y, never) = vjp(stage, x0)
# second derivatives
h = hvp(fn(x) = sum(stage(stage(x))), x0, x0)
h = grad(fn(x) = sum(grad(fn(x) = sum(stage(stage(x))))(x)))(x0)
# with a head that keeps values of its own
fn head(x) { checkpoint < for (j in 0..4) { x = tanh(w @ x) } >; y = tanh(w @ sin(w @ x)); sum(y * y) }
g = grad(head)(x0)
