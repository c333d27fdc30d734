x = [[1.0, 2.0], [3.0]]
print(x)
# error: shape 1:5 element 1 of […] has shape [1] and element 0 has [2]
# help: a tuple holds any: `([1.0, 2.0], [3.0])`
# fix 1: x = ([1.0, 2.0], [3.0])
