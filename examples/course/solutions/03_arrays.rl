# Solutions of lesson 3: what was picked twice gets both parts.
(y, back) = vjp(fn(x) = x[i64([0, 0, 2])], [5.0, 6.0, 7.0])
print(back([1.0, 1.0, 1.0]))
# expect: [2, 0, 1]
