s = 0
for (i in 0..5) { s += i }
print(s)                      # expect: 10
for (row in [[1, 2], [3, 4]]) { print(row) }
# expect: [1, 2]
# expect: [3, 4]
for ((k, v) in enumerate(("a", "b"))) { print(k, v) }
# expect: 0 a
# expect: 1 b
for (c in "añb") { print(c) }
# expect: a
# expect: ñ
# expect: b
n = 27
steps = 0
while (n != 1) { n = if (n % 2 == 0) { n / 2 } else { 3 * n + 1 }; steps += 1 }
print(steps)                  # expect: 111
for (i in 3..0) { print("never") }
for (i in 0..3) { }
print(i)                      # expect: 2
# What is gone over is evaluated once.
m = 3
for (k in 0..m) { m = 10 }
print(k)                      # expect: 2
x = [1, 2, 3]
for (v in x) { x = append(x, v) }
print(len(x))                 # expect: 6
