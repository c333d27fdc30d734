p = {weights: 1, bias: 2}
print(p.weight)
# error: name 2:9 there is no field `weight`; there are weights, bias
# help: did you mean `weights`?
# fix 2: print(p.weights)
