x = [1.0, 2.0]
print(x(0))
# error: type 2:7 this is not a function but an array, f64[2]
# help: an element is written `x[i]`
# fix 2: print(x[0])
