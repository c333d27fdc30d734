# Which variables have values after jumps.
fn f(n) { while (n > 0) { n -= 1; if (n == 2) { continue }; y = n }; y }
print(f(3), try(f, 0)[1])     # expect: 0 `y` is read before it is assigned
fn g(k) { for (i in 0..3) { if (i == k) { break }; z = i }; z }
print(g(2), try(g, 0)[1])     # expect: 1 `z` is read before it is assigned
fn h(n) {
  i = 0
  while (i < 3 or y > 2) { i += 1; if (i < n) { continue }; y = 1 }
  i
}
print(h(2), try(h, 9)[1])     # expect: 3 `y` is read before it is assigned
fn k(a) { if (a) { v = 1 } else { return "out" }; v + 1 }
print(k(true), k(false))      # expect: 2 out
fn m(a) { if (a) { v = 1 }; if (a) { v + 1 } else { 0 } }
print(m(true), m(false))      # expect: 2 0
fn n(a) { x = 1; g = fn() = x + (if (a) { 1 } else { 2 }); g() + (if (a) { return "r" } else { 1 }) + g() }
print(n(true), n(false))      # expect: r 7
fn early(t) { s = 0; for (v in t) { w = if (v < 0) { return ("bad", v) } else { v }; s += w }; ("sum", s) }
print(early((1, 2)), early((1, -2)))  # expect: ("sum", 3) ("bad", -2)
fn nest(a, b) { r = (); for (i in 0..2) { for (j in 0..3) { if (a == j) { continue }; if (b == i) { return (r, "b") }; r = append(r, 10 * i + j) } }; r }
print(nest(1, 9), nest(9, 1))  # expect: (0, 2, 10, 12) ((0, 1, 2), "b")
fn cp(x) { for (i in 0..5) { checkpoint < y = x * i; checkpoint < if (y > 6) { return (i, y) }; if (i == 1) { continue } >; last = y > }; last }
print(cp(2), cp(1))            # expect: (4, 8) 4
fn defaults(a, b = if (true) { 2 } else { 3 }, c = (fn(q) = q * 2)(4)) = a + b + c
print(defaults(1), defaults(1, c = 0))  # expect: 11 3
