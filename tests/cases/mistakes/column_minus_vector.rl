a = ones(3, 1); b = ones(3)
print(a - b)
# error: shape 2:9 -: shapes [3, 1] and [3] have different ranks and both would have to grow
# help: element by element: `a[..., 0] - b`; all pairs: `a - b[none, :]`
# fix 2: print(a[..., 0] - b); print(a - b[none, :])
