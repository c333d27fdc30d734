# Derivatives through try() and measure(), of functions within functions, and of spread arguments.
fn f(x) = x^2
print(grad(fn(x) = try(f, x)[0])(3.0))                            # expect: 6
print(grad(fn(x) = try(fn(y) = y * x, x)[0])(3.0))                # expect: 6
print(jvp(fn(x) = try(f, x)[0], 3.0, 1.0))                        # expect: (9, 6)
fn bad(x) { if (x > 2) { error("no") }; x }
fn g(x) { (v, e) = try(bad, x * 1.0); if (same(e, none)) { v * x } else { x^3 } }
print(grad(g)(3.0), grad(g)(1.0), jvp(g, 3.0, 1.0), grad(grad(g))(3.0))     # expect: 27 2 (27, 27) 18
fn h(x) { r = measure(fn() = f(x)); r.value }
print(grad(h)(3.0), jvp(h, 3.0, 1.0), grad(grad(h))(3.0))         # expect: 6 (9, 6) 2

# A function that calls itself and has captured what is differentiated by.
fn make(a) { fn power(n) = if (n == 0) { 1.0 } else { a * power(n - 1) }; power }
fn cube(a) = make(a)(3)
print(jvp(cube, 2.0, 1.0), grad(cube)(2.0), grad(grad(cube))(2.0))         # expect: (8, 12) 12 12
print(jvp(fn(a) = jvp(cube, a, 1.0)[1], 2.0, 1.0))                # expect: (12, 12)

# Spread arguments, before and behind others.
fn three(a, b, c) = a * b + c
fn spread(x) = three((x, 2 * x)..., x)
print(grad(spread)(3.0), jvp(spread, 3.0, 1.0), grad(grad(spread))(3.0))   # expect: 13 (21, 13) 4
fn twice(t) = three(t..., 1.0) * three(1.0, t...)
print(grad(twice)((2.0, 3.0)), jvp(twice, ((2.0, 3.0),), ((1.0, 1.0),)))    # expect: (22, 17) (35, 39)

# The arguments a message counts are those that were written.
print(try(fn() = jvp(f, (1.0, 2.0), (1.0, 1.0)))[1])              # expect: f takes 1 argument (x), and 2 are given
print(try(fn() = jvp(fn(y) = jvp(f, (y, y), (1.0, 1.0))[0], 1.0, 1.0))[1]) # expect: f takes 1 argument (x), and 2 are given
