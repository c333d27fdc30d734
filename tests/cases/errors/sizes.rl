# Sizes at the ends of 64 bits: an error, or what numbers without an end would give; never a wrong number.
fn said(f) = try(f)[1]
m = i64("9223372036854775807")
big = i64(2) ^ 48
e = expand(1.0, big)
parts = (e, e, e, e, [1.0])
fn said_of(f) = print(said(f))
said_of(fn() = expand(1.0, i64(2) ^ 62))                                                    # expect: an array of this shape would have more than 2^48 elements
said_of(fn() = zeros(m, m))                                                                 # expect: an array of shape [9223372036854775807, 9223372036854775807] cannot be: a size is negative, or there are more than 2^48 elements
said_of(fn() = expand([1.0], big + 1))                                                      # expect: an array of this shape would have more than 2^48 elements
said_of(fn() = concat(parts))                                                               # expect: concat(): the result would have more than 2^48 elements along the joined axis
said_of(fn() = concat((expand(true, big), expand(true, big))))                              # expect: concat(): the result would have more than 2^48 elements along the joined axis
said_of(fn() = flatten(parts))                                                              # expect: the vector would have more than 2^48 elements
said_of(fn() = grad(fn(x) = sum(concat((expand(x, big), expand(x, big), [x]))))(1.0))       # expect: concat(): the result would have more than 2^48 elements along the joined axis
said_of(fn() = pad([1, 2, 3], m))                                                           # expect: pad(): width is too large
said_of(fn() = grad(fn(x) = sum(pad(x, m)))([1, 2, 3]))                                     # expect: pad(): width is too large
said_of(fn() = pad(ones(3, 3), (big, big)))                                                 # expect: an array of shape [562949953421315, 562949953421315] cannot be: a size is negative, or there are more than 2^48 elements
said_of(fn() = diag([5], m))                                                                # expect: an array of shape [281474976710657, 281474976710657] cannot be: a size is negative, or there are more than 2^48 elements
said_of(fn() = diag([1, 2], -m - 1))                                                        # expect: an array of shape [281474976710658, 281474976710658] cannot be: a size is negative, or there are more than 2^48 elements
said_of(fn() = enumerate((1, 2), m))                                                        # expect: enumerate(): the count leaves 64 bits
said_of(fn() = split(zeros(0), i64(2) ^ 62))                                                # expect: split(): 4611686018427387904 parts are too many
said_of(fn() = split(zeros(3), expand(i64(1), i64(3_000_000_000))))                         # expect: split(): 3000000001 parts are too many
said_of(fn() = permutation(i64(2) ^ 61))                                                    # expect: permutation(): 2305843009213693952 places are too many
said_of(fn() = choice(i64(2) ^ 61, (2,), replace = false))                                  # expect: choice(): 2305843009213693952 places are too many
print(sum(eye(2, 2, -m - 1)), sum(triu([[1, 2], [3, 4]], m)), sum(tril([[1, 2], [3, 4]], -m - 1)), len(diag([[1, 2], [3, 4]], m)))  # expect: 0 0 0 0
print(enumerate((1,), m), roll([1, 2, 3], m), reshape(roll([[1, 2], [3, 4]], (m, m), axis = (0, 0)), (4,)))  # expect: ((9223372036854775807, 1),) [3, 1, 2] [1, 2, 3, 4]
