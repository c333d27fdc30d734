fn show(v) = for (x in v) { print(x) }
show([1, 2])
# error: syntax 1:14 expected an expression after `=`, found `for`
# help: statements stand in braces: `fn f(…) { for (…) { … } }`
# fix 1: fn show(v) { for (x in v) { print(x) } }
