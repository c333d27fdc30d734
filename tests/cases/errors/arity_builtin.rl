# error: arity 2:15 tanh() takes 1 argument, and 2 are given
print(tanh(1, 2))
