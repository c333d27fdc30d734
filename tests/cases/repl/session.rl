# repl
x = 3
x + 1                         # expect: 4
"a" + "b"                     # expect: "ab"
fn f(n) {
  n * x
}
f(2)                          # expect: 6
x = 10
f(2)                          # expect: 6
fn f(n) = n * 100
f(2)                          # expect: 200
none
for (i in 0..2) {
  print(i)
}
# expect: 0
# expect: 1
y = (1,
     2)
y                             # expect: (1, 2)
f = 3
f + x                         # expect: 13
print(i)                      # expect: 1
fn g(n) = if (n == 0) { 0 } else { n + g(n - 1) }
g(4)                          # expect: 10
