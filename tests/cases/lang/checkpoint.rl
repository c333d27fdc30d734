# A block changes nothing but memory and time.
x = 1
y = checkpoint < x = x + 1; x * 10 >
print(x, y)                           # expect: 2 20
z = 1 + (checkpoint < (checkpoint < 2 >) * 3 >)
print(z)                              # expect: 7
s = 0
checkpoint (slots = 2) < for (i in 0..4) { s = s + i } >
print(s)                              # expect: 6
checkpoint (save = "dots", spill = none) < a = [[1, 2]] @ [3, 4] >
checkpoint (save = ["h"]) < b = name("h", a + 1) >
checkpoint (save = not_names(["h"]), budget = 64MB) < c = name("h", b + 1) >
print(a, b, c)                        # expect: [11] [12] [13]
k = 3
checkpoint (slots = k) < while (s > 0) { s = s - 1 } >
print(s)                              # expect: 0
for (i in 0..5) { checkpoint < if (i == 2) { break }; print(i) > }
# expect: 0
# expect: 1
