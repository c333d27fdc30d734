# error: type 2:9 `and` is between bools, not number
print(1 and true)
