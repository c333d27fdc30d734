# A0 = 1
   0     # expect: 2
swap_axes
print(grad(fn(x) { s = 0.0; for (v in x) { s = s * 2 + v }; s })([1, 1, 1]))
