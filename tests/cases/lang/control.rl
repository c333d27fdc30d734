print(map(fn(x) = x * x, [1, 2, 3]))                    # expect: [1, 4, 9]
print(map(fn(a, b) = a + b, (1, 2), (10, 20)))          # expect: (11, 22)
print(map(fn(r) = {s: r.a + r.b}, {a: [1, 2], b: [3, 4]}))  # expect: {s: [4, 6]}
print(fold(fn(c, x) = c * x, 1, [1, 2, 3, 4]))          # expect: 24
print(scan(fn(c, x) = (c + x, c), 0, [1, 2, 3]))        # expect: (6, [0, 1, 3])
print(tree_map(fn(a, b) = a + b, {u: 1, v: (2, 3)}, {u: 10, v: (20, 30)}))  # expect: {u: 11, v: (22, 33)}
print(try(fn(x) = x + 1, 1))                            # expect: (2, none)
print(try(fn() = error("no")))                          # expect: (none, "no")
m = measure(fn() = 3)
print(m.value, has(m, "seconds"))                       # expect: 3 true
