for (i in range(3)) { print(i) }
# error: name 1:11 unknown name `range`
# help: count with a range: `0..n`
# fix 1: n = 3; for (i in 0..n) { print(i) }
