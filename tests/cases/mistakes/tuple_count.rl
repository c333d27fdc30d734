(a, b) = (1, 2, 3)
# error: value 1:1 a tuple of 3 cannot be taken apart into 2
