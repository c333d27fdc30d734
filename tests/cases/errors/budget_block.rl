# error: budget 3:37 the budget of 64 KiB is not enough
fn f(x) {
  checkpoint (budget = 64KiB) < y = sort(x) >
  sum(y)
}
x = sin((0..100000) * 0.1)
print(f(x))
