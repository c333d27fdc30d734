x = 3
print(f"x = {x}")
# error: syntax 2:8 found a string
# help: a text with values in it is `format("x = {}", x)`
# fix 2: print(format("x = {}", x))
