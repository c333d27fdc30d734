# Tables and batches.
import "data" as data
table = {name: ("a", "b", "a", "c"), x: f64([1, nan, 3, 4]), y: f64([10, 20, 30, 40])}
print(data.count(table), data.count(ones(3, 2)), data.count(("a", "b")), data.count((ones(5), ones(5, 2))))  # expect: 4 3 2 5
good = data.complete(table)
print(good.name, good.x, good.y)                    # expect: ("a", "a", "c") [1, 3, 4] [10, 30, 40]
print(data.columns(good, ("y", "x")))               # expect: [[10, 1],
# expect:  [30, 3],
# expect:  [40, 4]]
(ids, names) = data.codes(table.name)
print(ids, dtype(ids), names)                       # expect: [0, 1, 0, 2] i64 ("a", "b", "c")
print(data.rows(table, i64([3, 0])).name)           # expect: ("c", "a")
print(data.rows((f64([1, 2, 3]), ("x", "y", "z")), i64([2, 0])))  # expect: ([3, 1], ("z", "x"))

x = f64([[1, 5], [3, 5], [5, 5]])
z = data.normalise(x)
print(mean(z, axis = 0), std(z, axis = 0))          # expect: [0, 0] [1, 0]
print(data.normalise(f64([[3, 6]]), data.moments(x)))  # expect: [[0, 1]]
print(data.rescale(x)[:, 0])                        # expect: [0, 0.5, 1]

seed(1)
n = 10
both = data.shuffle({a: 0..n, b: (0..n) * 2})
print(sort(both.a), same(both.b, both.a * 2), same(both.a, 0..n))  # expect: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] true false
(train, test) = data.split({a: 0..n, b: (0..n) * 2}, 0.7)
print(len(train.a), len(test.b), sort(concat((train.a, test.a))), same(test.b, test.a * 2))  # expect: 7 3 [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] true
parts = data.batches(n, 4)
print(map(len, parts), sort(concat(parts)))         # expect: (4, 4, 2) [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
print(map(len, data.batches(n, 4, whole = true)), map(len, data.batches(3, 5)), len(data.batches(0, 5)))  # expect: (4, 4) (3,) 0
folds = data.folds(n, 3)
print(map(fn(f) = (len(f[0]), len(f[1])), folds), sort(concat(map(fn(f) = f[1], folds))))  # expect: ((7, 3), (7, 3), (6, 4)) [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
print(data.windows(0..4, 2))                        # expect: [[0, 1],
# expect:  [1, 2],
# expect:  [2, 3]]
print(shape(data.windows(ones(6, 2), 4)))           # expect: (3, 4, 2)
