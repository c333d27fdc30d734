# walk.rl: what the table walker asks of a derivative, in Replay. Each function takes a function f and the
# tuple p of its arguments, all of them with floats in them, and gives "" or what is wrong.

fn _numbers(n, s) = sin(1.3 + s + 2.1 * f64(0..n))

# The floats in x as a vector, in order; how many.
fn _flat(x) = flatten((x,))
fn _floats(x) = size(_flat(x))

# Whether g can be a cotangent or tangent of x: its structure, shapes and dtypes, none for parts without floats.
fn fits(g, x) {
  if (type(x) == "tuple") {
    if (type(g) != "tuple") { return false }
    if (len(g) != len(x)) { return false }
    for (k in 0..len(x)) { if (not fits(g[k], x[k])) { return false } }
    return true
  }
  if (type(x) == "record") {
    if (type(g) != "record") { return false }
    if (not same(keys(g), keys(x))) { return false }
    for (k in keys(x)) { if (not fits(g[k], x[k])) { return false } }
    return true
  }
  if (same(__form(x), __form(none))) { return same(g, none) }
  if (type(x) != "array") { return same(g, none) }
  if (dtype(x) == "i64" or dtype(x) == "bool") { return same(g, none) }
  type(g) == "array" and same(shape(g), shape(x)) and dtype(g) == dtype(x)
}

fn merged(args, active, q) {
  for ((k, i) in enumerate(active)) { args[i] = q[k] }
  args
}
# f as a function of the arguments at the places `active` alone.
fn partial(f, args, active) = fn(q...) = f(merged(args, active, q)...)
fn chosen(args, active) {
  p = ()
  for (i in active) { p = append(p, args[i]) }
  p
}

fn _back(f, p, w) {
  (y, back) = vjp(f, p...)
  g = back(w)
  if (len(p) == 1) { (g,) } else { g }
}
fn _at(f, p, t, h) = _flat(f(unflatten(_flat(p) + h * t, p)...))
fn _slope(f, p, t, h) = (_at(f, p, t, h) - _at(f, p, t, -h)) / (2 * h)

# jvp against central differences, and <w, J t> = <J' w, t>.
fn first(f, p) {
  n = _floats(p)
  y = f(p...)
  m = _floats(y)
  tv = _numbers(n, 0.3)
  wv = _numbers(m, 0.8)
  (y1, dy) = jvp(f, p, unflatten(tv, p))
  if (not same(y1, y)) { return format("jvp gives the value {}, not {}", y1, y) }
  if (not fits(dy, y)) { return format("the tangent {} does not fit the result {}", dy, y) }
  (y2, _) = vjp(f, p...)
  if (not same(y2, y)) { return format("vjp gives the value {}, not {}", y2, y) }
  g = _back(f, p, unflatten(wv, y))
  if (not fits(g, p)) { return format("the cotangent {} does not fit the arguments {}", g, p) }
  a = _flat(dy) * wv
  b = _flat(g) * tv
  if (not (abs(sum(a) - sum(b)) <= 1e-10 * (1 + sum(abs(a)) + sum(abs(b))))) {
    return format("jvp and vjp disagree: {} and {}; tangent {}, cotangent {}, at {}", sum(a), sum(b), dy, g, p)
  }
  wide = _slope(f, p, tv, 2e-4)
  fine = _slope(f, p, tv, 1e-4)
  settled = abs(wide - fine) <= 1e-4 * (1 + abs(fine))
  d = (4 * fine - wide) / 3
  wrong = settled and not (abs(d - _flat(dy)) <= 1e-6 * (1 + abs(d)))
  if (any(wrong)) { return format("the tangent is {}, by differences {}, at {}", _flat(dy), d, p) }
  if (2 * count_nonzero(settled) < m) { return format("differences do not settle: {} and {}, at {}", wide, fine, p) }
  ""
}

# The pullback and the tangent as functions of the arguments and of what they are applied to.
fn pulled(f, n) = fn(q...) = _back(f, q[0:n], q[n])
fn pushed(f, n) = fn(q...) = jvp(f, q[0:n], q[n:])[1]

# Derivatives of derivatives: reverse and forward over each, and symmetry.
fn second(f, p) {
  n = len(p)
  y = f(p...)
  w = unflatten(_numbers(_floats(y), 0.5), y)
  back = pulled(f, n)
  said = first(back, append(p, w))
  if (said != "") { return "of the pullback, " + said }
  t = unflatten(_numbers(_floats(p), 0.9), p)
  q = p
  for (x in t) { q = append(q, x) }
  said = first(pushed(f, n), q)
  if (said != "") { return "of the tangent, " + said }
  gradient = fn(x...) = back(append(x, w)...)
  u = _numbers(_floats(p), 1.1)
  v = _numbers(_floats(p), 2.6)
  hv = _flat(jvp(gradient, p, unflatten(v, p))[1])
  hu = _flat(_back(gradient, p, unflatten(u, p)))
  if (not (abs(sum(u * hv) - sum(v * hu)) <= 1e-9 * (1 + sum(abs(u * hv)) + sum(abs(v * hu))))) {
    return format("the second derivative is not symmetric: {} and {}", sum(u * hv), sum(v * hu))
  }
  ""
}

fn third(f, p) {
  y = f(p...)
  w = unflatten(_numbers(_floats(y), 0.5), y)
  q = append(p, w)
  back = pulled(f, len(p))
  z = back(q...)
  said = first(pulled(back, len(q)), append(q, unflatten(_numbers(_floats(z), 0.7), z)))
  if (said != "") { "of the pullback's pullback, " + said } else { "" }
}

# The same through a checkpoint block, bit for bit.
fn blocks(f, p) {
  inside = fn(q...) { y = checkpoint < f(q...) >; y }
  y = f(p...)
  if (not same(y, inside(p...))) { return "a block changes the value" }
  w = unflatten(_numbers(_floats(y), 0.5), y)
  t = unflatten(_numbers(_floats(p), 0.9), p)
  if (not same(_back(f, p, w), _back(inside, p, w))) { return "a block changes the cotangent" }
  if (not same(jvp(f, p, t), jvp(inside, p, t))) { return "a block changes the tangent" }
  q = append(p, w)
  if (not same(_back(pulled(f, len(p)), q, p), _back(pulled(inside, len(p)), q, p))) { return "a block changes the second derivative" }
  ""
}

fn _zeros(p) {
  z = ()
  for (x in p) { z = append(z, if (_floats(x) == 0) { x } else { unflatten(zeros(_floats(x)), x) }) }
  z
}
# A tuple as long as x, of symbolic zeros but for v at place k.
fn _only(x, k, v) = __cot_tuple(__place((v,), k), __form_shallow(x))

# Symbolic zeros: one argument active at a time, and of a tuple one element at a time, gives what real zeros give.
fn symbolic(f, p) {
  y = f(p...)
  w = unflatten(_numbers(_floats(y), 0.5), y)
  t = unflatten(_numbers(_floats(p), 0.9), p)
  together = _back(f, p, w)
  for (k in 0..len(p)) {
    alone = partial(f, p, (k,))
    g = _back(alone, (p[k],), w)[0]
    if (not same(g, together[k])) { return format("argument {} alone has the cotangent {}, with the others {}", k, g, together[k]) }
    real = _zeros(p)
    real[k] = t[k]
    symbolic = _only(p, k, t[k])
    a = jvp(f, p, real)[1]
    b = jvp(f, p, symbolic)[1]
    c = jvp(alone, (p[k],), (t[k],))[1]
    if (not (fits(b, y) and all(_flat(a) == _flat(b)))) { return format("with symbolic zeros beside argument {} the tangent is {}, not {}", k, b, a) }
    if (not (fits(c, y) and all(_flat(a) == _flat(c)))) { return format("with argument {} alone active the tangent is {}, not {}", k, c, a) }
    if (type(p[k]) == "tuple") {
      for (i in 0..len(p[k])) {
        if (_floats(p[k][i]) == 0) { continue }
        real = _zeros(p)
        real[k] = _zeros(p[k])
        real[k][i] = t[k][i]
        symbolic = _only(p, k, _only(p[k], i, t[k][i]))
        a = jvp(f, p, real)[1]
        b = jvp(f, p, symbolic)[1]
        if (not (fits(b, y) and all(_flat(a) == _flat(b)))) {
          return format("with symbolic zeros beside part {} of argument {} the tangent is {}, not {}", i, k, b, a)
        }
        part = fn(e) { x = p; x[k][i] = e; f(x...) }
        g = _back(part, (p[k][i],), w)[0]
        if (not same(g, together[k][i])) { return format("part {} of argument {} alone has the cotangent {}, not {}", i, k, g, together[k][i]) }
      }
    }
  }
  none_ = _back(f, p, __nothing())
  if (not (fits(none_, p) and all(_flat(none_) == 0))) { return format("the cotangent zero gives {}", none_) }
  if (type(y) == "tuple" and len(y) > 0) {
    for (i in 0..len(y)) {
      if (_floats(y[i]) == 0) { continue }
      symbolic = _only(y, i, w[i])
      real = _zeros(y)
      real[i] = w[i]
      a = _back(f, p, real)
      b = _back(f, p, symbolic)
      if (not (fits(b, p) and all(_flat(a) == _flat(b)))) { return format("with the cotangent of part {} alone, {}, not {}", i, b, a) }
    }
  }
  ""
}


# A result that comes to nothing at run time only: the row's rules meet symbolic zeros, to every order.
fn without_influence(f, p) {
  h = fn(q...) { t = (f(q...), sum(_flat(q) ^ 2)); t[1] }
  said = first(h, p)
  if (said != "") { return said }
  q = append(p, 1.5)
  said = first(pulled(h, len(p)), q)
  if (said != "") { return "of the pullback, " + said }
  said = second(pulled(h, len(p)), q)
  if (said != "") { "beyond the pullback, " + said } else { "" }
}

# The same of the pullback and of the tangent.
fn symbolic_second(f, p) {
  y = f(p...)
  said = symbolic(pulled(f, len(p)), append(p, unflatten(_numbers(_floats(y), 0.5), y)))
  if (said != "") { return "of the pullback, " + said }
  q = p
  for (x in unflatten(_numbers(_floats(p), 0.9), p)) { q = append(q, x) }
  said = symbolic(pushed(f, len(p)), q)
  if (said != "") { "of the tangent, " + said } else { "" }
}

fn single(x) {
  if (same(__form(x), __form(none))) { return x }
  if (type(x) == "tuple") { r = (); for (v in x) { r = append(r, single(v)) }; return r }
  if (type(x) == "record") { for (k in keys(x)) { x[k] = single(x[k]) }; return x }
  if (type(x) != "array") { return x }
  if (dtype(x) == "f64") { f32(x) } else { x }
}

# f32: forms, and about the numbers of f64.
fn narrow(f, args, active) {
  p = chosen(args, active)
  few = chosen(single(args), active)
  g = partial(f, single(args), active)
  y = g(few...)
  w = unflatten(f32(_numbers(_floats(y), 0.5)), y)
  t = single(unflatten(_numbers(_floats(few), 0.9), few))
  a = _back(g, few, w)
  if (not fits(a, few)) { return format("the cotangent {} does not fit f32 arguments {}", a, few) }
  dy = jvp(g, few, t)[1]
  if (not fits(dy, y)) { return format("the tangent {} does not fit the f32 result {}", dy, y) }
  wide = _back(partial(f, args, active), p, unflatten(_numbers(_floats(y), 0.5), f(args...)))
  x = f64(_flat(a))
  z = _flat(wide)
  if (not all(abs(x - z) <= 2e-3 * (1 + abs(z)))) { return format("the cotangent is {} in f32, {} in f64", x, z) }
  # some arguments f32, the others f64
  for (k in 0..len(p)) {
    mixed = p
    mixed[k] = few[k]
    h = partial(f, args, active)
    y = h(mixed...)
    a = _back(h, mixed, unflatten(_numbers(_floats(y), 0.5), y))
    if (not fits(a, mixed)) { return format("the cotangent {} does not fit arguments of both floats {}", a, mixed) }
    dy = jvp(h, mixed, unflatten(_numbers(_floats(mixed), 0.9), mixed))[1]
    if (not fits(dy, y)) { return format("the tangent {} does not fit the result {} of both floats", dy, y) }
  }
  ""
}

# The row called with a spread tuple, and as a value, is the row.
fn spread(f, args, active) {
  p = chosen(args, active)
  direct = partial(f[0], args, active)
  y = direct(p...)
  w = unflatten(_numbers(_floats(y), 0.5), y)
  t = unflatten(_numbers(_floats(p), 0.9), p)
  for (way in f[1:]) {
    g = partial(way, args, active)
    if (not same(g(p...), y)) { return "the value is another when the arguments are spread" }
    if (not same(_back(g, p, w), _back(direct, p, w))) { return "the cotangent is another when the arguments are spread" }
    if (not same(jvp(g, p, t), jvp(direct, p, t))) { return "the tangent is another when the arguments are spread" }
  }
  ""
}

fn _whole(x) {
  if (type(x) == "tuple") { for (k in 0..len(x)) { x[k] = _whole(x[k]) }; return x }
  if (type(x) == "record") { for (k in keys(x)) { x[k] = _whole(x[k]) }; return x }
  if (dtype(x) == "bool") { x } else { i64(x) }
}
# An elementwise row with whole numbers beside a float: forms only, since values may leave the domain.
fn beside_whole(f, args, active) {
  for (k in active) {
    few = ()
    for (j in 0..len(args)) { few = append(few, if (j == k) { args[j] } else { _whole(args[j]) }) }
    g = partial(f, few, (k,))
    y = g(args[k])
    a = _back(g, (args[k],), unflatten(_numbers(_floats(y), 0.5), y))
    if (not fits(a, (args[k],))) { return format("beside whole numbers the cotangent is {}", a) }
    dy = jvp(g, (args[k],), (unflatten(_numbers(_floats(args[k]), 0.9), args[k]),))[1]
    if (not fits(dy, y)) { return format("beside whole numbers the tangent is {}", dy) }
  }
  ""
}

# A constant row: its tangent and its cotangents are zero.
fn constant(f, p) {
  y = f(p...)
  t = unflatten(_numbers(_floats(p), 0.9), p)
  dy = jvp(f, p, t)[1]
  if (not all(_flat(dy) == 0)) { return format("the tangent of a constant is {}", dy) }
  g = _back(f, p, __nothing())
  if (type(y) == "array") {
    if (dtype(y) == "f64") { g = _back(f, p, ones_like(y)) }
  }
  if (not (fits(g, p) and all(_flat(g) == 0))) { return format("the cotangent of a constant is {}", g) }
  ""
}
