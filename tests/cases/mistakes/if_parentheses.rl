if x > 0 { print(1) }
# error: syntax 1:4 expected `(` after `if`, found `x`
# help: a condition always stands in parentheses: `if (…) { … }`
# fix 1: x = 1; if (x > 0) { print(1) }
