fn f(x) = x * x
print(grad(f)([1.0, 2.0]))
# error: derivative 2:7 grad needs a function whose result is one float; this one's is f64[2]
# help: take sum(…) of the result, or use jacobian(f), or vjp(f, x) with a cotangent of its shape
