# error: arity 3:7 f() needs `y`
fn f(x, y) = x + y
print(f(1))
