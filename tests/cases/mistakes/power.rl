x = 2 ** 3
print(x)
# error: syntax 1:7 there is no operator `**`
# help: write `^`
# fix 1: x = 2 ^ 3
