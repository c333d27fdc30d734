fn f(x) {
  if (x > 0) { y = 1 }
  y
}
print(f(-1))
# error: name 3:3 `y` is read before it is assigned
# help: a name that a function assigns is its own; make `y` an argument and return its new value
