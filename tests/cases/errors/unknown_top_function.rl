# error: name 3:18 `later`
# expect: before
print("before"); later(1)
fn later(x) = x
