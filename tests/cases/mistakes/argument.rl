fn f(a, b) = a + b
print(f(1))
# error: arity 2:7 f() needs `b`
