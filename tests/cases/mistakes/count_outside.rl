n = 0
fn count() { n = n + 1; n }
print(count())
# error: name 2:18 `n` is read before it is assigned
# help: a name that a function assigns is its own; make `n` an argument and return its new value
# fix 2: fn count(n) { n = n + 1; n }
# fix 3: print(count(n))
