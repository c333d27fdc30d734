# An error in a block during the forward pass leaves no trace, and says where.
fn fails(x) { checkpoint < y = x * 2; assert(x < 1, "too large") >; y }
(v, message) = try(fn(x) = grad(fails)(x), 5.0)
print(v, message)                     # expect: none too large
print(grad(fails)(0.5))               # expect: 2
state = seed()
(v, message) = try(fn(x) = grad(fn(x) { checkpoint < y = rand() * x; error("no") >; y })(x), 5.0)
print(message)                        # expect: no
print(grad(fails)(0.25))              # expect: 2
