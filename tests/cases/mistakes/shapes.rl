a = ones(3, 4)
b = ones(3, 5)
print(a + b)
# error: shape 3:9 +: shapes [3, 4] and [3, 5] do not fit: axis 1 from the end is 4 on one side and 5 on the other
# help: to leave out what is too much: `a + b[:, :4]`
# fix 3: print(a + b[:, :4])
