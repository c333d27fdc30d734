# error: arity 3:15 f() takes at most 2 arare given

fn f(x, y = 2) = x 
(
) = x 
(
n, size)
 y


