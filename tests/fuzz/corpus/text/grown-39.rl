


print(
print(print())
(-try(fn() = 1)))
# error: name 3:3 `y` is read before it is assigned
# help: not every way to here assigns it; give it a value at the beginning: `y = …`
# fix 2:   y = 0; if (x > 0) { y = 1 }
