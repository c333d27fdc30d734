x = for (i in 0..3) { i }
print(x)
# error: syntax 1:5 expected an expression after `=`, found `for`
# help: a loop gives no value; `map(fn(x) = …, v)` does
# fix 1: x = map(fn(i) = i, 0..3)
