x = ones(3)
x.append(1)
# error: type 2:3 a field `append` is asked of a record, and this is an array
# help: arrays have no fields and methods; write `append(x, …)`
# fix 2: x = append(x, 1)
