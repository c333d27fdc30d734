# Whole numbers that are too large are said to be that, and not something else.
fn said(f) = try(f)[1]
x = [1, 2]
print(said(fn() = conv1d(zeros(1, 1, 8), zeros(1, 1, 3), dilation = 99999999999)))   # expect: conv1d(): dilation must be at most 2147483647, not 99999999999
print(said(fn() = conv1d(zeros(1, 1, 8), zeros(1, 1, 3), padding = 1e300)))          # expect: conv1d(): padding holds 1e+300, which is too large
print(said(fn() = repeat(x, 1e300)))                                                 # expect: repeat(): repeats holds 1e+300, which is too large
print(said(fn() = 0..1e300))                                                         # expect: ..: hi is 1e+300, which is too large for a whole number
print(said(fn() = eye(1e300)))                                                       # expect: eye(): n is 1e+300, which is too large for a whole number
print(said(fn() = x[1e300]))                                                         # expect: index 1e+300 is out of range
print(said(fn() = (1, 2)[1e300]))                                                    # expect: index 1e+300 is out of range
fn loop() { for (i in 0..1e300) { } }
print(said(loop))                                                                    # expect: ..: 1e+300 is too large for an end of a range
fn store(x) { x["a"] = 3; x }
print(said(fn() = store(x)))                                                         # expect: an array is not indexed by a string
