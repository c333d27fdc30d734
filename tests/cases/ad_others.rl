# Derivatives of a gradient by what it is not a gradient by, and towers in which a block knows some directions only.
fn f(w, x) = sin(w * x) * w
print(grad(fn(x) = grad(f)(0.7, x))(1.3) == grad(fn(x) = grad(fn(w) = f(w, x))(0.7))(1.3))        # expect: true
print(grad(fn(x) = grad(fn(w, x) = w * x * x)(0.7, x))(1.5))                                      # expect: 3
print(jvp(fn(x) = grad(fn(w, x) = w * x * x)(0.7, x), 1.5, 1))                                    # expect: (2.25, 3)
print(jvp(fn(x) = vjp(fn(w, x) = w * x * x, 0.5, x)[1](1.0), 1.5, 1))                             # expect: ((2.25, 1.5), (3, 1))
print(grad(fn(x) = value_and_grad(fn(w, x) = w * x * x)(0.5, x)[1])(1.5))                         # expect: 3
print(grad(fn(x) = sum(grad(fn(w, x) = sum(w * x))([1.0, 2.0], x)))([3.0, 4.0]))                  # expect: [1, 1]
print(grad(fn(y) = grad(fn(w, x, y) = w * x * y^2)(2.0, 3.0, y))(5.0))                            # expect: 30
print(grad(fn(x) = sum(hessian(fn(w, x) = sum(w^3) * x)([1.0, 2.0], x)))(1.0))                    # expect: 18
print(grad(fn(x) = sum(jacobian(fn(w, x) = w^2 * x)([1.0, 2.0], x)))(1.0))                        # expect: 6

fn with_block(w, x, a, b) { y = checkpoint < sin(a * w) * exp(b * w) >; x * y * y + x^2 * w }
fn plain(w, x, a, b) { y = sin(a * w) * exp(b * w); x * y * y + x^2 * w }
fn tower(h) {
  g = fn(w, x, a, b) = grad(h)(w, x, a, b)
  dx = fn(w, x, a, b) = jvp(fn(x) = g(w, x, a, b), x, 1.0)[1]
  da = fn(w, x, a, b) = jvp(fn(a) = g(w, x, a, b), a, 1.0)[1]
  dadx = fn(w, x, a, b) = jvp(fn(a) = dx(w, x, a, b), a, 1.0)[1]
  dxda = fn(w, x, a, b) = jvp(fn(x) = da(w, x, a, b), x, 1.0)[1]
  dbdadx = fn(w, x, a, b) = jvp(fn(b) = dadx(w, x, a, b), b, 1.0)[1]
  dxdbda = fn(w, x, a, b) = jvp(fn(x) = jvp(fn(b) = da(w, x, a, b), b, 1.0)[1], x, 1.0)[1]
  dadbdx = fn(w, x, a, b) = jvp(fn(a) = jvp(fn(b) = dx(w, x, a, b), b, 1.0)[1], a, 1.0)[1]
  four = fn(w, x, a, b) = jvp(fn(w) = dbdadx(w, x, a, b), w, 1.0)[1]
  p = (0.7, 1.3, 0.9, 0.2)
  (g(p...), dx(p...), da(p...), dadx(p...), dxda(p...), dbdadx(p...), dxdbda(p...), dadbdx(p...), four(p...),
    grad(fn(w) = dadx(w, 1.3, 0.9, 0.2))(0.7), grad(fn(x) = da(0.7, x, 0.9, 0.2))(1.3), grad(fn(x) = g(0.7, x, 0.9, 0.2))(1.3))
}
a = tower(with_block)
b = tower(plain)
print(same(a, b))                                                 # expect: true
e = 1e-4
fn at(x, a) = grad(plain)(0.7, x, a, 0.2)
differences = ((at(1.3 + e, 0.9) - at(1.3 - e, 0.9)) / (2 * e), (at(1.3, 0.9 + e) - at(1.3, 0.9 - e)) / (2 * e),
  (at(1.3 + e, 0.9 + e) - at(1.3 - e, 0.9 + e) - at(1.3 + e, 0.9 - e) + at(1.3 - e, 0.9 - e)) / (4 * e^2))
print(max(abs([a[1] - differences[0], a[2] - differences[1], a[3] - differences[2], a[4] - differences[2]])) < 1e-6)    # expect: true
print(max(abs([a[10] - a[4], a[11] - a[1], a[5] - a[6], a[5] - a[7]])) < 1e-12)     # expect: true
