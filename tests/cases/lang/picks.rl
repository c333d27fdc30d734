# choice() and seed(): from tuples, in shapes, with weights; what they cannot do.
fn no(f) = try(f)[1]
fn seeded(f) { s = seed(); seed(5); v = f(); seed(s); v }
t = ("b", "a", (true, none))
picks = choice(t, 200)
print(len(picks), type(picks))                    # expect: 200 tuple
n = 0
for (p in picks) { n += same(p, "b") or same(p, "a") or same(p, (true, none)) }
print(n, has(t, choice(t)))                       # expect: 200 true
print(shape(choice([true, false], (2, 3))), dtype(choice([true, false], 4)), shape(choice(7, (2, 2))))     # expect: (2, 3) bool (2, 2)
x = sort(choice(0..5, 5, replace = false))
print(x)                                          # expect: [0, 1, 2, 3, 4]
w = choice(3, 3000, p = [1, 0, 3])
print(max(abs(sum(w[:, none] == [[0, 1, 2]], axis = 0) / 3000.0 - [0.25, 0, 0.75])) < 0.03)        # expect: true
print(same(seeded(fn() = choice(t, 20)), seeded(fn() = choice(t, 20))))       # expect: true
s = seed()
a = rand(3)
seed(s)
print(same(a, rand(3)))                           # expect: true
print(no(fn() = choice(3, 2, p = [1, 2])))        # expect: choice(): p must be a vector of 3 weights, one for each place
print(no(fn() = choice(3, 2, p = [1, -1, 1])))    # expect: choice(): p[1] is not a weight: it must be finite and not negative
print(no(fn() = choice(("a", "b"), (2, 2))))      # expect: choice(): picks from a tuple are a tuple: one axis at most
print(no(fn() = choice([1.5, 2.5])))               # expect: choice(): a must be a number of places, or whole numbers, bools or a tuple to pick from
print(no(fn() = choice(2, 3, replace = false)))   # expect: choice(): 3 distinct picks from 2 places; give replace = true, or pick fewer
print(no(fn() = choice(0)))                       # expect: choice(): a leaves nothing to pick from
print(no(fn() = seed([1.5])))                     # expect: seed(): s must be a whole number, or a state that seed() gave (an i64 pair)
