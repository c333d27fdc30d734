# Lesson 2: the chain rule by hand, forward and reverse. Text: 02_chain.md
x = 0.5
a = x * x
b = sin(a)
y = exp(b)

# Forward: the derivative of each line by x, in the order of the lines.
da = 2 * x
db = cos(a) * da
dy = exp(b) * db

# Reverse: the derivative of y by each line, in the opposite order.
y_adj = 1.0
b_adj = exp(b) * y_adj
a_adj = cos(a) * b_adj
x_adj = 2 * x * a_adj

fn f(x) = exp(sin(x * x))
print(abs(dy - x_adj) < 1e-15, abs(x_adj - grad(f)(x)) < 1e-15)
# expect: true true
(value, tangent) = jvp(f, x, 1.0)
print(abs(tangent - dy) < 1e-15)
# expect: true

# One sweep of reverse gives the derivative by every input; forward needs a sweep for each.
fn many(v) = prod(sin(v))
print(shape(grad(many)(linspace(0.1, 1, 1000))))
# expect: (1000,)
