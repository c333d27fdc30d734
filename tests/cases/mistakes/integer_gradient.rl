n = 5
print(grad(fn(k) = k * k)(i64(n)))
# error: derivative 2:7 argument `k` is i64: there is no float in it to differentiate by
# help: pass f64(…) of it
# fix 2: print(grad(fn(k) = k * k)(f64(n)))
