# error: name 4:7 unknown name `lenght`
# help: did you mean `length`?
length = 3
print(lenght)
