for (i in 5) { print(i) }
# error: type 1:11 cannot loop over a number
# help: count with a range: for (i in 0..n) { … }
# fix 1: n = 5; for (i in 0..n) { print(i) }
