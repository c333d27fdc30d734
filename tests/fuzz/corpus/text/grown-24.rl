x = (2, 3)
grad(fn(x) = print(reshape(x, (4, 2))))(0.5)
# error: shape 2:7 reshape(): x has shape [2x 2: print(reshape(x, (-1, 2)))
