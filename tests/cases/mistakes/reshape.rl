x = ones(2, 3)
print(reshape(x, (4, 2)))
# error: shape 2:7 reshape(): x has shape [2, 3], 6 elements, and they do not fill the shape [4, 2]
# help: one size can follow from the others: `reshape(x, (-1, 2))`
# fix 2: print(reshape(x, (-1, 2)))
