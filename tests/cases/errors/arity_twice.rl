# error: arity 3:12 `x` by position and by name
fn f(x, y = 2) = x + y
print(f(1, x = 3))
