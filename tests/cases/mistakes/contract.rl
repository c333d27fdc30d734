fn f(x: [n, m]) = sum(x)
print(f(ones(3)))
# error: contract 1:9 argument x of f: its shape is [3], expected [n, m]
# help: a vector is one row as `x[none, :]`, one column as `x[:, none]`
# fix 2: x = ones(3); print(f(x[none, :]))
