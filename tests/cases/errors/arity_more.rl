# error: arity 3:15 f() takes at most 2 arguments, and 3 are given
fn f(x, y = 2) = x + y
print(f(1, 2, 3))
