# The gradient of what is no scalar is an error that offers sum, jacobian and vjp.
grad(fn(x) = x * 2)([1, 2])
# error: derivative grad needs
# help: take its sum
