# error: name 2:13 `n` is a parameter
fn f(n, x: [n]) = x
