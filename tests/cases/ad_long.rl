# Numbers that must come out to the last digit, and depth limited by memory only.
fn chain(y) { for (i in 0..80000) { y = y + y * 1e-6 }; y }
# exactly (1 + 1e-6)^80000 is 1.0832870243435055; 80,000 roundings are allowed half an ulp each, on average much less
assert(abs(grad(chain)(1.0) - 1.0832870243435055) < 2e-13)
fn doubled(x) { for (i in 0..60) { x = x + x }; x }
print(grad(doubled)(1.0) == 2.0^60)             # expect: true
fn straight(x) {
  x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x
  x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x
  x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x
  x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x
  x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x
  x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x; x = x + x
  x
}
print(grad(straight)(1.0) == 2.0^60)            # expect: true
fn descend(x, n) = if (n == 0) { x } else { descend(x, n - 1) }
print(grad(descend)(2.0, i64(100000)))          # expect: 1
