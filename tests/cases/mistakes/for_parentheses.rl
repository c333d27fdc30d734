for i in 0..3 { print(i) }
# error: syntax 1:5 expected `(` after `for`, found `i`
# help: write `for (x in …) { … }`
# fix 1: for (i in 0..3) { print(i) }
