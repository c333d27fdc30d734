x = 1
x++
print(x)
# error: syntax 2:2 there is no operator `++`
# help: write `x += 1`
# fix 2: x += 1
