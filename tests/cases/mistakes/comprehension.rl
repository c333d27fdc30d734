x = [2 * i for i in 0..3]
print(x)
# error: syntax 1:12 found `for`
# help: write `map(fn(x) = …, v)`
# fix 1: x = map(fn(i) = 2 * i, 0..3)
