s = ()
for (i in 0..10) {
  if (i % 2 == 0) { continue }
  if (i > 7) { break }
  s = append(s, i)
}
print(s, i)                   # expect: (1, 3, 5, 7) 9
# Nested: each belongs to its own loop.
out = ()
for (i in 0..4) {
  for (j in 0..4) {
    if (j == 2) { break }
    if (i == 1) { continue }
    out = append(out, (i, j))
  }
  if (i == 2) { break }
}
print(out)                    # expect: ((0, 0), (0, 1), (2, 0), (2, 1))
# In a while loop the condition is not evaluated after a break.
fn check(n) { print("check", n); n < 3 }
n = 0
while (check(n)) { n += 1; if (n == 2) { break }; print("go on") }
# expect: check 0
# expect: go on
# expect: check 1
n = 0
while (check(n)) { n += 1; if (n == 2) { continue }; print("body", n) }
# expect: check 0
# expect: body 1
# expect: check 1
# expect: check 2
# expect: body 3
# expect: check 3
# Both arms jump.
for (i in 0..5) { if (i < 3) { continue } else { break }; print("never") }
print(i)                      # expect: 3
# Only the else arm.
for (i in 0..5) { if (i < 3) { k = i } else { break }; print(k) }
# expect: 0
# expect: 1
# expect: 2
# A jump inside an expression leaves the rest of it out.
for (i in 0..3) { print("i", if (i == 1) { continue } else { i }, i) }
# expect: i 0 0
# expect: i 2 2
for (i in 0..3) { y = 10 + (if (i == 1) { break } else { i }); print(y) }
# expect: 10
print(i, y)                   # expect: 1 10
