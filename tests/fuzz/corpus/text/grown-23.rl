fn f(x) = x * x

print(grad(fn(x) = checkpoint < x * stop_grad(x) >)(3.0))

# error: derivative 2:7 grad needs a function whose result is one float; this one's is f64[2]
# help: tak(f(x)))`; or use jacobian(f), or vjp(f, x) with a cotangent of its shape
# fix 2: print(grad(fn(x) = Hsum(f(x)))([1.0, 2.0]))
