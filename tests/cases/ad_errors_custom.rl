# A custom_vjp function that captured what is being differentiated is an error.
fn loss(w) { f = custom_vjp(fn(x) = x * w, fn(dy, y, x) = dy); f(2.0) }
grad(loss)(3.0)
# error: derivative captured
