# A block that saves nothing gets a warning, with its line.
w = sin(reshape(0..400, 20, 20))
x0 = sin(0..20)
# it encloses everything
fn all(x) { checkpoint < for (i in 0..5) { x = tanh(w @ x) } >; sum(x) }
# warning: checkpoint 5:13 the adjoint begins with it
g = grad(all)(x0)
# it is the last thing before the end, after what is held anyway
fn last(x) {
  for (i in 0..5) { x = tanh(w @ x) }
  checkpoint < for (i in 0..5) { x = tanh(w @ x) } >
  sum(x)
}
# warning: checkpoint 11:3 the adjoint begins with it
g = grad(last)(x0)
# it holds one cheap operation
fn cheap(x) { for (i in 0..5) { x = w @ x; checkpoint < x = tanh(x) > }; sum(x) }
# warning: checkpoint 17:44 no more than what it is replayed from
g = grad(cheap)(x0)
fn product(x) { checkpoint < y = x @ w @ x >; y * y }
# warning: checkpoint 20:17 saves nothing
g = grad(product)(x0)
# nothing but the enclosing one of two
fn outer(x) { checkpoint < for (i in 0..9) { checkpoint < for (j in 0..3) { x = tanh(w @ x) } > } >; sum(x) }
# warning: checkpoint 24:15 the adjoint begins with it
g = grad(outer)(x0)
