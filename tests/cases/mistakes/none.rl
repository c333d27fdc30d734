x = None
# error: name 1:5 unknown name `None`
# help: did you mean `none`?
# fix 1: x = none
