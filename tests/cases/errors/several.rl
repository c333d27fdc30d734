# All of them are said, in order of the text.
# error: name 5:1 unknown name `aaa`
# error: arity 6:13 tanh() takes 1 argument
# error: syntax 7:1 `break`
aaa
x = tanh(1, 2)
break
