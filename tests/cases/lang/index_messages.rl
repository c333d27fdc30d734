# What is said of an index that does not do, for each kind of thing that is indexed.
fn no(f) = try(f)[1]
s = "héllo wörld"
print(s[::2], s[::-1], s[1:3], s[-1], s[8:2:-3], s[3:3] == "")   # expect: hlowrd dlröw olléh él d r  true
x = [[1, 2, 3], [4, 5, 6]]
t = (1, 2, 3)
r = {width: 1, height: 2}
print(r["width"])                        # expect: 1
print(no(fn() = r["widht"]))             # expect: the record has no field "widht"
print(no(fn() = r[0]))                   # expect: a record is indexed by the name of a field, not by a number
print(no(fn() = r[[1, 2]]))              # expect: a record is indexed by the name of a field, not by an array
print(no(fn() = x[true]))                # expect: a single bool is not an index
print(no(fn() = x[0.5]))                 # expect: an index must be whole, not 0.5
print(no(fn() = x[[0.5, 1]]))            # expect: an index array must hold whole numbers, and holds 0.5
print(no(fn() = x[0, 1, 2]))             # expect: 3 indices are too many for an array of 2 axes
print(no(fn() = x["a"]))                 # expect: an array is not indexed by a string
print(no(fn() = x[[0, 1], [0, 1, 2]]))   # expect: index arrays of 2 and 3 elements do not go together
print(no(fn() = x[5]))                   # expect: index 5 is out of range for axis 0, which has 2 elements
print(no(fn() = x[-3]))                  # expect: index -3 is out of range for axis 0, which has 2 elements
print(no(fn() = x[1:"a"]))               # expect: a slice's stop must be a whole number, not a string
print(no(fn() = x[1.5:]))                # expect: a slice's start must be whole, not 1.5
print(no(fn() = x[:1e30]))               # expect: a slice's stop must be whole and within 64 bits, not 1e+30
print(no(fn() = x[::0]))                 # expect: a slice's step cannot be 0
print(no(fn() = t[1, 2]))                # expect: a tuple has one axis and takes one index
print(no(fn() = t["a"]))                 # expect: a tuple is indexed by a whole number or a slice, not by a string
print(no(fn() = t[true]))                # expect: a tuple is indexed by a whole number or a slice, not by a bool
print(no(fn() = t[7]))                   # expect: index 7 is out of range for a tuple of 3 elements
print(no(fn() = 5[0]))                   # expect: a number has no axes to index
print(no(fn() = none[0]))                # expect: none cannot be indexed
fn set_string() { s = "abc"; s[0] = "x"; s }
print(no(set_string))                    # expect: a string's characters cannot be assigned
fn set_slice() { t = (1, 2, 3); t[0:2] = (1, 2, 3); t }
print(no(set_slice))                     # expect: a slice of 2 elements of a tuple takes a tuple of as many
fn set_whole() { i = i64(zeros(2)); i[0] = 0.5; i }
print(no(set_whole))                     # expect: a float cannot be stored in an array of i64 without losing its fraction
fn set_far() { x = zeros(3); x[[0, 5]] = 1; x }
print(no(set_far))                       # expect: index 5 is out of range for axis 0, which has 3 elements
fn set_field() { r = {a: 1}; r.b.c = 2; r }
print(no(set_field))                     # expect: there is no field `b`; there is a
fn over() { for (k in {a: 1}) { } }
print(no(over))                          # expect: cannot loop over a record
fn taken() { (a, b) = 3; a }
print(no(taken))                         # expect: 2 values are taken out of a tuple, and this is a number
t[0:2] = (7, 8)
print(t, t[-1:], t[::-1], t[...])        # expect: (7, 8, 3) (3,) (3, 8, 7) (7, 8, 3)
x[...] = 0
print(sum(x), shape(x))                  # expect: 0 (2, 3)

# What follows the name of a function that is differentiated.
fn f(weight, x) = weight * x
print(no(fn() = grad(f, wrt = "wieght")(1.0, 2.0)))       # expect: f has no parameter `wieght` to differentiate by
print(no(fn() = grad(f, wrt = 1.5)(1.0, 2.0)))           # expect: grad: wrt is the position or the name of an argument, or a tuple of them, not a fraction
print(no(fn() = vjp(fn(x) = x * 2, [1.0, 2.0])[1]([1.0, 2.0, 3.0])))    # expect: the cotangent is f64[3], but what it belongs to is f64[2]
print(no(fn() = custom_vjp(1, f)))       # expect: custom_vjp() takes two functions, but its first argument is a number
