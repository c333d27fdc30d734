fn layer(x: [n, d], w: [d, k], b: [k]) -> [n, k] = tanh(x @ w + b) * 0 + n * 100 + d * 10 + k
print(layer(ones(2, 3), ones(3, 1), zeros(1)))   # expect: [[231],
# expect:  [231]]
fn any(x: [_, 2], y: f64, z: [..., 3]) = (shape(x), shape(z))
print(any(ones(5, 2), 1.5, ones(4, 2, 3)))       # expect: ((5, 2), (4, 2, 3))
fn d(x: [n] = [1, 2, 3]) = n
print(d(), d([1]))                               # expect: 3 1
