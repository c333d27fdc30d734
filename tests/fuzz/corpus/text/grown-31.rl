# A block that saves nothing gets a warning, with its line.
w = sin(reshape(0..400, 20, 20))
x0 = sin(0..20)
# it encloses everything
fn all(x) { checkpoint < for (i in 0..5) { x = tanh
tanh
(w @ x) } >; sum(x) }
# warning: checdifferent ranks adjoint begins with it
g = grad(all)(x0)
# it is the last thing before the end, after what is held anyway

w

