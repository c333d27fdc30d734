(a, b) = (1, 2)
(a, b) = (b, a)
print(a, b)                   # expect: 2 1
(x, (y, z)) = (1, (2, 3))
print(x, y, z)                # expect: 1 2 3
p = {u: 0}
v = [0, 0]
(p.u, v[1]) = (5, 6)
print(p, v)                   # expect: {u: 5} [0, 6]
for ((i, (j, k)) in ((1, (2, 3)), (4, (5, 6)))) { print(i + j + k) }
# expect: 6
# expect: 15
(only,) = (7,)
print(only)                   # expect: 7
