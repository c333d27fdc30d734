# error: name 3:5 unknown name `True`
# help: did you mean `true`?
x = True
