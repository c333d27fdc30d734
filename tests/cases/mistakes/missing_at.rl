w = ones(3, 4); x = ones(4, 2)
print(w * x)
# error: shape 2:9 *: shapes [3, 4] and [4, 2] do not fit: axis 1 from the end is 4 on one side and 2 on the other
# help: `*` goes element by element; the matrix product is `w @ x`
# fix 2: print(w @ x)
