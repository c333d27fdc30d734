# error: name 2:12 `k`
f = fn() = k
k = 2
f()
