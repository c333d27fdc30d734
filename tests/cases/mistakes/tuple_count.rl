(a, b) = (1, 2, 3)
# error: value 1:1 a tuple of 3 cannot be taken apart into 2
# help: for all of it write `(a, b, _) = …`
# fix 1: (a, b, _) = (1, 2, 3)
