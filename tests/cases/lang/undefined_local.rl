# A name assigned anywhere in a function is local to all of it.
# error: name 5:7 `k`
k = 1
fn f() {
  j = k
  k = 2
}
f()
