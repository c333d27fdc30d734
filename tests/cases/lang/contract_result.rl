# error: contract
fn f(x: [n]) -> [n] = concat((x, x))
print(f(ones(2)))
