# Blocks open no scope; functions do, and capture values when they are made.
if (true) { a = 1 }
print(a)                      # expect: 1
checkpoint < b = 2; c = b + 1 >
print(b, c)                   # expect: 2 3
k = 1
f = fn(x) = x + k
k = 100
print(f(1))                   # expect: 2
fn g(x) { k = x; k }
print(g(7), k)                # expect: 7 100
fn counter() { n = 0; fn() { m = n + 1; m } }
print(counter()())            # expect: 1
# Default arguments are evaluated when the function is made.
d = 5
fn h(x, y = d) = x + y
d = 50
print(h(1), h(1, 2))          # expect: 6 3
# Recursion of a local function, and through two levels.
fn outer(n) {
  fn fib(k) = if (k < 2) { k } else { fib(k - 1) + fib(k - 2) }
  fib(n)
}
print(outer(10))              # expect: 55
fn walk(n) { fn go(k) { add = fn() = if (k == 0) { 0 } else { k + go(k - 1) }; add() }; go(n) }
print(walk(4))                # expect: 10
# Top-level functions are looked up when they are called.
fn even(n) = if (n == 0) { true } else { odd(n - 1) }
fn odd(n) = if (n == 0) { false } else { even(n - 1) }
print(even(10), odd(7))       # expect: true true
# A name of a builtin may be taken.
sum = fn(x) = "mine"
print(sum([1, 2]))            # expect: mine
