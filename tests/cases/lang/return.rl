fn sign_word(x) {
  if (x > 0) { return "plus" }
  if (x < 0) { return "minus" }
  "zero"
}
print(sign_word(3), sign_word(-3), sign_word(0))  # expect: plus minus zero
fn find(t, v) {
  for ((i, e) in enumerate(t)) { if (e == v) { return i } }
  none
}
print(find((5, 6, 7), 6), find((5, 6, 7), 9))     # expect: 1 none
fn deep(n) {
  for (i in 0..n) {
    for (j in 0..n) {
      for (k in 0..n) {
        if (i + 2 * j + 3 * k == 9) { return (i, j, k) }
      }
      print("row", i, j)
    }
  }
  print("none found")
  "nothing"
}
print(deep(3))                # expect: row 0 0
# expect: row 0 1
# expect: row 0 2
# expect: row 1 0
# expect: (1, 1, 2)
print(deep(1))                # expect: row 0 0
# expect: none found
# expect: nothing
fn early(x) { y = 1; if (x) { return y + 1 }; y = 5; while (true) { y += 1; if (y == 9) { return y } } }
print(early(true), early(false))  # expect: 2 9
fn nothing(x) { if (x) { return }; x = 3 }
print(nothing(true), nothing(false))  # expect: none none
fn inside(x) = 1 + (if (x) { return 100 } else { 2 })
print(inside(true), inside(false))    # expect: 100 3
fn in_block(x) { y = checkpoint < if (x > 2) { return "left" }; x + 1 >; y * 2 }
print(in_block(3), in_block(1))       # expect: left 4
fn both(x) { if (x) { return 1 } else { return 2 }; 3 }
print(both(true), both(false))        # expect: 1 2
fn tail_loop(n) { for (i in 0..n) { if (i == 3) { return i } } }
print(tail_loop(2), tail_loop(5))     # expect: none 3
