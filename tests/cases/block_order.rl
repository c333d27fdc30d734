# Higher orders, forward mode, custom derivatives and pullbacks through blocks.
fn f(x) { checkpoint < y = sin(x) * x; z = y * y >; z * x }
fn plain(x) { y = sin(x) * x; z = y * y; z * x }
assert(same(grad(f)(0.7), grad(plain)(0.7)))
assert(same(grad(grad(f))(0.7), grad(grad(plain))(0.7)))
assert(same(grad(grad(grad(f)))(0.7), grad(grad(grad(plain)))(0.7)))
assert(same(jvp(f, (0.7,), (1.3,)), jvp(plain, (0.7,), (1.3,))))
assert(same(hessian(f)(0.7), hessian(plain)(0.7)))
assert(same(hvp(f, 0.7, 2.0), hvp(plain, 0.7, 2.0)))
assert(same(jvp(grad(f), (0.7,), (1.0,)), jvp(grad(plain), (0.7,), (1.0,))))
fn v(x) { checkpoint < y = tanh(x @ x'); checkpoint < z = sum(y, axis = 0) > >; z }
fn v_plain(x) { y = tanh(x @ x'); z = sum(y, axis = 0); z }
m = [[0.1, 0.5], [-0.3, 0.2]]
assert(same(jacobian(v)(m), jacobian(v_plain)(m)))
assert(same(hvp(fn(x) = sum(v(x)), m, m'), hvp(fn(x) = sum(v_plain(x)), m, m')))
# custom_vjp in a block and around one
cube = custom_vjp(fn(x) = x^3, fn(dy, y, x) = dy * 3 * x^2)
print(grad(fn(x) = checkpoint < cube(x) * 2 >)(2.0))                # expect: 24
around = custom_vjp(fn(x) = checkpoint < x^3 >, fn(dy, y, x) = checkpoint < dy * 3 * x^2 >)
print(grad(around)(2.0), grad(grad(around))(2.0))                   # expect: 12 12
print(jvp(fn(x) = checkpoint < around(x) >, (2.0,), (1.0,)))        # expect: (8, 12)
odd = custom_vjp(fn(x) = x, fn(dy, y, x) = dy * 100)
print(grad(fn(x) = checkpoint < odd(odd(x)) >)(1.0))                # expect: 10000
# stop_grad in a block
print(grad(fn(x) = checkpoint < x * stop_grad(x) >)(3.0))           # expect: 3
# a block in a closure returned from a function
fn make(w) = fn(x) = checkpoint < y = x * w; y * y >
print(grad(fn(w) = make(w)(3.0))(2.0))                              # expect: 36
g = make(2.0)
print(grad(g)(3.0))                                                 # expect: 24
# gradients inside of blocks
print(grad(fn(x) = checkpoint < grad(fn(z) = z^3 * x)(x) >)(2.0))   # expect: 36
# a pullback twice, and kept while every name is rebound
x = [1.0, 2.0]
fn h(x) { checkpoint < y = x * x; z = y * x >; z }
(y, back) = vjp(h, x)
x = "else"
y = none
_ = back([1, 0])
print(back([1, 1]), back([0, 2]))                                   # expect: [3, 12] [0, 24]
