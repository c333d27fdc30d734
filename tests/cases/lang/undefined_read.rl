# error: name 4:11 `y`
fn f(c) {
  if (c) { y = 1 }
  x = 2 + y
  x
}
print(f(true))                # expect: 3
print(f(false))
