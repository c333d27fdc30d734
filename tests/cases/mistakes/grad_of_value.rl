print(grad(3.0)(1.0))
# error: type 1:7 only a function can be differentiated, and this is a number
# help: pass the function itself: `grad(f)(x)`, or `grad(fn(x) = …)(x)`
# fix 1: print(grad(fn(x) = 3.0 * x)(1.0))
