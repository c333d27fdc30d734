# error: arity 4:12 f() has no parameter `widht`
# help: did you mean `width`?
fn f(x, width = 2) = x * width
print(f(1, widht = 3))
