x = 3
if (x = 3) { print(1) }
# error: syntax 2:7 `=` assigns and cannot stand in a condition
# help: to compare, write `==`
# fix 2: if (x == 3) { print(1) }
