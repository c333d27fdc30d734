# A function keeps the values it captured; the REPL says so when one of them changes.
# repl
k = 1
f = fn() = k
fn g() = k + 1
# note: the function `f` keeps the value that `k` had when it was made
# note: the function `g` keeps the value that `k` had when it was made
k = 2
f()                     # expect: 1
g()                     # expect: 2
