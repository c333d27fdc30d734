# Solutions of lesson 2: both sweeps for y = x1 x2 + sin(x1).
x1 = 1.5
x2 = -0.5
a = x1 * x2
b = sin(x1)
# forward, by x1 and then by x2
by_x1 = x2 + cos(x1)
by_x2 = x1
# reverse, once
y_adj = 1.0
a_adj = y_adj
b_adj = y_adj
x1_adj = b_adj * cos(x1)
x1_adj += a_adj * x2
x2_adj = a_adj * x1
(g1, g2) = grad(fn(x1, x2) = x1 * x2 + sin(x1), wrt = (0, 1))(x1, x2)
print(abs(g1 - by_x1) < 1e-15, g2 == by_x2, abs(x1_adj - g1) < 1e-15, x2_adj == g2)
# expect: true true true true
