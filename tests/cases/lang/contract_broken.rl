# error: contract
fn f(x: [n, d], w: [d]) = x @ w
print(f(ones(2, 3), ones(4)))
