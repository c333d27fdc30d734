# error: contract






jvp(fn(x) = 2 and 2, (0.5,), (1.0,))

print


