# error: name 3:7 unknown name `sofmax`
# help: did you mean `softmax`?
print(sofmax([1, 2]))
