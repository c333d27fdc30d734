# Effects happen once: prints, counters, tables; random numbers are the forward pass's own.
fn deep(x) {
  checkpoint <
    print("outer")
    checkpoint < print("middle"); checkpoint < print("inner"); y = sin(x) > ; z = y * y >
  >
  z
}
print(grad(deep)(0.0))
# expect: outer
# expect: middle
# expect: inner
# expect: 0
print(hessian(deep)(0.0))
# expect: outer
# expect: middle
# expect: inner
# expect: 2
print(grad(grad(deep))(0.0))
# expect: outer
# expect: middle
# expect: inner
# expect: 2
fn unused(x) { checkpoint < print("unused result"); y = exp(x) >; x * 3 }
print(grad(unused)(1.0))
# expect: unused result
# expect: 3
# counters and tables
fn counting(x) { n = i64(0); t = (); for (i in 0..3) { checkpoint < n += 1; t = append(t, x * i); print("row", i) > }; (t[0] + t[1] + t[2] * t[2]) * n }
print(value_and_grad(counting)(1.0))
# expect: row 0
# expect: row 1
# expect: row 2
# expect: (15, 27)
# random numbers
fn noisy(x, n) {
  s = 0.0
  for (i in 0..n) { checkpoint < m = (rand(3) > 0.5); s += sum(where(m, x * i, x)) * randn() > }
  s + sum(rand(2)) * sum(x)
}
fn noisy_plain(x, n) {
  s = 0.0
  for (i in 0..n) { m = (rand(3) > 0.5); s += sum(where(m, x * i, x)) * randn() }
  s + sum(rand(2)) * sum(x)
}
x = [0.5, 1.5, -2.0]
_ = seed(5)
a = value_and_grad(noisy)(x, 4)
after = rand(3)
_ = seed(5)
b = value_and_grad(noisy_plain)(x, 4)
assert(same(a, b) and same(after, rand(3)))
# training for a while on random masks: the same losses to the bit
fn train(f, steps) {
  _ = seed(11)
  w = [0.1, 0.2, 0.3]
  losses = ()
  for (i in 0..steps) {
    (l, g) = value_and_grad(f)(w, 2)
    w = w - 0.01 * g
    losses = append(losses, l)
  }
  losses
}
assert(same(train(noisy, 150), train(noisy_plain, 150)))
# what a function is when a region is replayed is what it was
fn k(x) = x * 2
(y, back) = vjp(fn(x) = checkpoint < sin(k(x)) >, 0.0)
print(back(1.0))                                                    # expect: 2
