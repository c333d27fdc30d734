f = fn(x) = x * x
print(grad(f, 3))
# error: arity 2:7 grad: f has 1 argument, and wrt asks for the one at position 3, counted from 0
# help: grad(f) is a function of the arguments of f: its value at x is `grad(f)(x)`, and what follows f is wrt
# fix 2: print(grad(f)(3))
