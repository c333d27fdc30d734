fn pair(x) = (x, 2 * x)
(a, b, c) = pair(1)
print(a)
# error: value 2:1 a tuple of 2 cannot be taken apart into 3
# help: for all of it write `(a, b) = …`
# fix 2: (a, b) = pair(1)
