x = ones(3, 4)
print(sum(x, axis = 2))
# error: shape 2:7 sum(): axis 2 is out of range for x of shape [3, 4]
# help: the axes of x are 0 to 1; the last is axis = -1
# fix 2: print(sum(x, axis = -1))
