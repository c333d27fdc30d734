# Gradients at the awkward points: zeros, ties, guards, overflow, repeated indices.
print(grad(fn(x) = sum(where(x > 0, sqrt(x), x)))([-1, -4]))   # expect: [1, 1]
print(grad(prod)([0, 2, 3]))                                    # expect: [6, 0, 0]
print(grad(prod)([0, 0, 3]))                                    # expect: [0, 0, 0]
print(grad(norm)(zeros(3)))                                     # expect: [0, 0, 0]
print(grad(fn(x) = norm(x)^2)(zeros(3)))                        # expect: [0, 0, 0]
print(grad(std)([1, 1]))                                        # expect: [0, 0]
g = grad(max)([1, 2, 2, 2])
assert(same(g, [0, 1 / 3, 1 / 3, 1 / 3]))
print(grad(fn(x) = x[argmax(x)])([1, 1]))                       # expect: [1, 0]
print(grad(maximum, wrt = (0, 1))(1, 1))                        # expect: (0.5, 0.5)
print(grad(fn(x) = maximum(x, x))(1))                           # expect: 1
(y, g) = value_and_grad(logsumexp)([1000, 1000])
print(y, g)                                                     # expect: 1000.6931471805599 [0.5, 0.5]
ids = [i64(0), i64(0)]
print(grad(fn(x) = sum(x[ids] * [0.2, 0.3]))([7]))              # expect: [0.5]
g = grad(fn(a, b) = sum(a * b), wrt = 0)([1], [[1, 1]])
print(g, shape(g))                                              # expect: [2] (1,)
# no perturbation confusion
print(grad(fn(x) = x * grad(fn(y) = x + y)(1.0))(1.0))          # expect: 1
print(jvp(fn(x) = x * jvp(fn(y) = x + y, (1.0,), (1.0,))[1], (1.0,), (1.0,)))  # expect: (1, 1)
print(grad(fn(b) = sum([0, 2]^b))(1.0))                         # expect: 1.3862943611198906
# kinks: the minimum-norm subgradient
print(grad(abs)(0.0), grad(relu)(0.0), grad(sign)(0.0))         # expect: 0 0 0
print(grad(floor)(1.5), grad(round)(0.5), grad(ceil)(1.5))      # expect: 0 0 0
print(grad(fn(x) = clamp(x, 0, 1))(1.0), grad(fn(x) = clamp(x, 0, 1))(0.5), grad(fn(x) = clamp(x, 0, 1))(-2.0))  # expect: 0 1 0
print(grad(sqrt)(0.0))                                          # expect: inf
print(grad(min)([3, 1, 1]))                                     # expect: [0, 0.5, 0.5]
# the zero rule: 0 * inf never
print(grad(fn(x) = sqrt(x) * 0)(0.0))                           # expect: 0
print(hessian(fn(x) = sin(x)^2 / 2)(0.0))                       # expect: 1
print(grad(fn(x) = x^0)(0.0), grad(fn(x) = x^1)(0.0), grad(fn(x) = x^2)(0.0))  # expect: 0 1 0
print(hessian(fn(x) = x^2)(0.0), hessian(fn(x) = x^3)(0.0))     # expect: 2 0
print(grad(fn(x) = var(x))([2, 2, 2]))                          # expect: [0, 0, 0]
