# linreg.rl: a line through noisy points, by gradient descent and by the normal equations.

seed(1)
x = 10 * rand(100)
y = 3 * x - 2 + randn(100)

fn line(p, x) = p.slope * x + p.offset
fn loss(p) = mean((line(p, x) - y) ^ 2)

p = {slope: 0, offset: 0}
for (step in 0..2000) {
  p = p - 0.02 * grad(loss)(p)             # arithmetic goes through records
  if (step % 500 == 0) { print(format("step {:4d}  loss {:.4f}", step, loss(p))) }
}
print(format("slope {:.4f}  offset {:.4f}  loss {:.4f}", p.slope, p.offset, loss(p)))

# The same line without iteration.
slope = mean((x - mean(x)) * (y - mean(y))) / var(x)
print(format("exactly: slope {:.4f}  offset {:.4f}", slope, mean(y) - slope * mean(x)))

# expect: step    0  loss 37.5024
# expect: step  500  loss 1.1614
# expect: step 1000  loss 1.1613
# expect: step 1500  loss 1.1613
# expect: slope 2.9677  offset -2.0220  loss 1.1613
# expect: exactly: slope 2.9677  offset -2.0220
