fn f(x, y = 10, z = 100) = x + y + z
print(f(1), f(1, 2), f(1, 2, 3), f(1, z = 3), f(z = 1, x = 2, y = 3))  # expect: 111 103 6 14 6
t = (1, 2)
print(f(t...), f(t..., z = 0), f(1, (2, 3)...))  # expect: 103 3 6
print(3 |> f, 3 |> f(4), 3 |> f(z = 0))          # expect: 113 107 13
print([1, 2, 3] |> sum |> fn(s) = s * 2)         # expect: 12
g = f
print(g(1, z = 0))                               # expect: 11
r = {h: fn(x) = x * 2}
print(r.h(4))                                    # expect: 8
print((fn(x) = x + 1)(2))                        # expect: 3
fn adder(a) = fn(b) = a + b
print(adder(1)(2))                               # expect: 3
print(sum([[1, 2], [3, 4]], axis = 0))           # expect: [4, 6]
print(sum([[1, 2], [3, 4]], keepdims = true, axis = 1))  # expect: [[3],
# expect:  [7]]
h = sum
print(h([1, 2, 3]), map(sum, ([1, 2], [3])))     # expect: 6 (3, 3)
print(maximum((3, 5)...))                        # expect: 5
