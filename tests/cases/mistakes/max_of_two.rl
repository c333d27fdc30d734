print(max(3, 4))
# error: shape 1:7 max(): axis 4 is out of range for x, a number, which has no axes
# help: of two values it is `maximum(3, 4)`
# fix 1: print(maximum(3, 4))
