x = ones(3)
print(x.shape)
# error: type 2:9 a field `shape` is asked of a record, and this is an array
# help: arrays have no fields and methods; write `shape(x)`
# fix 2: print(shape(x))
