# options: check
# note: 4:12 the function takes the value that `k` has when it is made
k = 1
f = fn() = k
k = 2
