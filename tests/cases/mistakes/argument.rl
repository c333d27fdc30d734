fn f(a, b) = a + b
print(f(1))
# error: arity 2:7 f() needs `b`
# help: write `f(1, b = …)`
# fix 2: print(f(1, b = 2))
