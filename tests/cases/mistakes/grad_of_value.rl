print(grad(3.0)(1.0))
# error: type 1:7 only a function can be differentiated, not a value of type array
