# map, fold and scan differentiate through their function and what it captured.
print(grad(fn(x) = sum(map(fn(v) = v * v, x)))([1, 2, 3]))        # expect: [2, 4, 6]
print(grad(fn(w) = sum(map(fn(v) = v * w, [1, 2, 3])))(2.0))      # expect: 6
print(grad(fn(x) = fold(fn(c, v) = c * v, 1.0, x))([2, 3, 4]))    # expect: [12, 8, 6]
fn running(x) { (c, ys) = scan(fn(c, v) = (c + v, c * v), 0.0, x); sum(ys) + c }
print(grad(running)([1, 2, 3]))                                   # expect: [6, 5, 4]
print(grad(fn(x) = sum(map(fn(v) = (checkpoint < y = v * v; y * v >), x)))([1, 2]))  # expect: [3, 12]
assert(same(grad(fn(x) = fold(fn(c, v) = checkpoint < sin(c) * v >, 1.0, x))([2, 0]), [0, sin(2 * sin(1.0))]))
