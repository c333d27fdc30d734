# Solutions of lesson 4: the adjoint of f by hand.
x = 2.0
a = x * 3
b = a + x
y_adj = 1.0
b_adj = y_adj * a
a_adj = y_adj * b
a_adj += b_adj          # b = a + x
x_adj = b_adj
x_adj += a_adj * 3      # a = x * 3
assert(x_adj == 48.0, "24 x")
print(x_adj)
# expect: 48
