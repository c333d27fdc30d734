fn f(x) = return x + 1
print(f(1))
# error: syntax 1:11 expected an expression after `=`, found `return`
# help: what stands after `=` is what the function gives: leave `return` out
# fix 1: fn f(x) = x + 1
