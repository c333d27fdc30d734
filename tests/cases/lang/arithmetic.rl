# Operators, loosest last; weak numbers.
print(1 + 2 * 3)          # expect: 7
print((1 + 2) * 3)        # expect: 9
print(-2^2)               # expect: -4
print(2^-1)               # expect: 0.5
print(2^3^2)              # expect: 512
print(7 // 2, -7 // 2)    # expect: 3 -4
print(7 % 3, -7 % 3)      # expect: 1 2
print(7 / 2)              # expect: 3.5
print(1 < 2, 2 <= 2, 3 > 4, 3 >= 4, 1 == 1, 1 != 1)  # expect: true true false false true false
print(not true, not false)                           # expect: false true
print([1, 2] + 10)        # expect: [11, 12]
print([[1, 2], [3, 4]] @ [1, 1])                     # expect: [3, 7]
print([[1, 2], [3, 4]]')  # expect: [[1, 3],
# expect:  [2, 4]]
print(0xff, 1_000, 1e-3, 64KiB)                      # expect: 255 1000 0.001 65536
