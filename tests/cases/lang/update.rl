x = zeros(2, 3)
x[0, 1] = 5
x[1] = [7, 8, 9]
x[:, 0] = 1
print(x)                      # expect: [[1, 5, 0],
# expect:  [1, 8, 9]]
y = x
y[0, 0] = 100
print(x[0, 0], y[0, 0])       # expect: 1 100
p = {w: [1, 2, 3], layers: ({a: 1}, {a: [5, 6]})}
q = p
p.w[1] = 20
p.layers[1].a[0] = 99
p.layers[0].a = "new"
p.extra = none
p["more"] = 1
print(p)   # expect: {w: [1, 20, 3], layers: ({a: "new"}, {a: [99, 6]}), extra: none, more: 1}
print(q)   # expect: {w: [1, 2, 3], layers: ({a: 1}, {a: [5, 6]})}
p.w[::2] = p.w[1:]
print(p.w)                    # expect: [20, 20, 3]
p.w += 1
p.w[0] *= 2
print(p.w)                    # expect: [42, 21, 4]
t = (1, 2, 3)
t[1] = "two"
print(t)                      # expect: (1, "two", 3)
m = ([1, 2], [3, 4])
m[1][0] = 30
print(m)                      # expect: ([1, 2], [30, 4])
z = [[1, 2], [3, 4]]
z[0][1] = 9
print(z)                      # expect: [[1, 9],
# expect:  [3, 4]]
a = 2
a ^= 3
a -= 1
a /= 2
print(a)                      # expect: 3.5
b = [[1, 2], [3, 4]]
b @= [[0, 1], [1, 0]]
print(b)                      # expect: [[2, 1],
# expect:  [4, 3]]
# The value is evaluated before the target.
i = 0
v = [1, 2, 3]
v[i] = v[i] + v[i + 1]
print(v)                      # expect: [3, 2, 3]
