# derive.rl: the derivative operators, in Replay over the two passes that derive Code from Code.
#
# __derive_fwd(f, mask) gives f with its Code's forward pass in place: it returns (result, pullback).
# __pull(pullback, dy) gives (cotangents of what f captured, cotangents of its arguments).
# __derive_jvp(f, mask) takes the tuple of tangents first and returns (result, tangent).
# So every operator here is an ordinary function and is differentiated like any other.

fn __argument_cotangents(pullback, dy) = __cot_index(__pull(pullback, dy), 1, none)

fn __gradient_of(d, k, f, x) {
  g = __cot_index(d, k, none)
  __unused(g, f, k)
  __finish(g, x)
}

fn __gradients(d, positions, single, f, args) {
  if (single) { return __gradient_of(d, positions[0], f, args[positions[0]]) }
  g = ()
  for (k in positions) { g = append(g, __gradient_of(d, k, f, args[k])) }
  g
}

# value_and_grad(f): a function giving (value, gradient) of f, whose result is one float.
# wrt: the position or name of the argument to differentiate by, or a tuple of them.
# aux: f returns (value, extra); the function then gives ((value, extra), gradient).
#   value_and_grad(fn(x) = sum(x ^ 2))([1, 2])  # (5, [2, 4])
#   value_and_grad(fn(x, y) = x * y, wrt = "y")(3, 4)  # (12, 3)
fn value_and_grad(f, wrt = 0, aux = false) {
  __wrt_fits(f, wrt, "value_and_grad")
  fn(args...) {
    positions = __wrt(f, wrt, args)
    (y, pullback) = __call2(__derive_fwd(f, __mask(positions)), args)
    seed = if (aux) { (__cotangent_one(y[0], "value_and_grad"), __nothing()) } else { __cotangent_one(y, "value_and_grad") }
    (y, __gradients(__argument_cotangents(pullback, seed), positions, type(wrt) != "tuple", f, args))
  }
}

# grad(f): a function giving the gradient of f, whose result is one float. See value_and_grad; with
# aux = true it gives (gradient, extra).
#   grad(fn(x) = x ^ 3)(2)  # 12
#   grad(fn(p) = p.a * p.b)({a: 3.0, b: 4.0})  # {a: 4, b: 3}
fn grad(f, wrt = 0, aux = false) {
  __wrt_fits(f, wrt, "grad")
  fn(args...) {
    positions = __wrt(f, wrt, args)
    (y, pullback) = __call2(__derive_fwd(f, __mask(positions)), args)
    seed = if (aux) { (__cotangent_one(y[0], "grad"), __nothing()) } else { __cotangent_one(y, "grad") }
    g = __gradients(__argument_cotangents(pullback, seed), positions, type(wrt) != "tuple", f, args)
    if (aux) { (g, y[1]) } else { g }
  }
}

fn __finish_all(d, args) {
  g = ()
  for (k in 0..len(args)) { g = append(g, __finish(__cot_index(d, k, none), args[k])) }
  g
}

# vjp(f, args...): (f(args...), back), where back(dy) gives the cotangent of the argument, or the tuple
# of them when there are several.
#   vjp(sin, 0)[1](2)  # 2
#   vjp(fn(x, y) = x * y, 3.0, [1, 2])[1]([1, 1])  # (3, [3, 3])
fn vjp(f, args...) {
  (y, pullback) = __call2(__derive_fwd(f, __mask(none)), args)
  back = fn(dy) {
    d = __argument_cotangents(pullback, __match(dy, y, "cotangent"))
    if (len(args) == 1) { __finish(__cot_index(d, 0, none), args[0]) } else { __finish_all(d, args) }
  }
  (y, back)
}

# jvp(f, args, tangents): (f(args...), tangent of the result); args and tangents are tuples, or one value
# each for a function of one argument.
#   jvp(fn(x) = x ^ 2, 3, 1)  # (9, 6)
#   jvp(fn(x, y) = x * y, (3, 4), (1, 0))  # (12, 4)
fn jvp(f, args, tangents) {
  a = if (type(args) == "tuple") { args } else { (args,) }
  t = if (type(args) == "tuple") { tangents } else { (tangents,) }
  t = __match(t, a, "tangent")
  (y, dy) = __call2(__derive_jvp(f, __mask(none)), __prepend(__prepend(__nothing(), t), a))
  (y, __finish(dy, y))
}

fn __joined(a, b) {
  for (v in b) { a = append(a, v) }
  a
}

# The i-th of the unit arrays shaped like x.
fn __unit(x, i) {
  e = reshape(zeros_like(x), (size(x),))
  e[i] = 1
  reshape(e, shape(x))
}

# Stacks columns, each shaped like y, one for each element of x: an array of shape(y), then shape(x).
fn __columns(columns, y, x) {
  if (len(columns) == 0) { return zeros(__joined(shape(y), shape(x))) }
  reshape(reshape(stack(columns), (size(x), size(y)))', __joined(shape(y), shape(x)))
}

# Tangents for args: t at place k, symbolic zeros elsewhere.
fn __only(args, k, t) = __cot_tuple(__place((t,), k), __form_shallow(args))

# f's result and its tangents, one for each element of argument k. Every run has the random numbers of
# the state given; the first prints, unless f ran before.
fn __forward_columns(f, args, k, state, ran) {
  x = args[k]
  y = none
  columns = ()
  for (i in 0..size(x)) {
    again = ran or i > 0
    if (again) { seed(state); __hush(true) }
    e = if (rank(x) == 0) { ones_like(x) } else { __unit(x, i) }
    (y, dy) = jvp(f, args, __only(args, k, e))
    columns = append(columns, dy)
    if (again) { __hush(false) }
  }
  (if (size(x) == 0) { f(args...) } else { y }, columns)
}

fn __array_only(v, what, who) {
  if (type(v) != "array") { error(format("{} needs {} that is one array, and flatten makes one of a structure", who, what)) }
  v
}

# jacobian(f): a function giving the derivative of every element of f's result by every element of its
# argument: an array of the result's shape followed by the argument's. By columns (forward) or by rows
# (reverse), whichever are fewer.
#   jacobian(fn(x) = x ^ 2)([1, 2])  # [[2, 0], [0, 4]]
#   jacobian(fn(x) = [x, 3 * x])(2)  # [1, 3]
fn jacobian(f, wrt = 0) {
  __wrt_fits(f, wrt, "jacobian")
  fn(args...) {
    k = __wrt(f, wrt, args)[0]
    x = __array_only(args[k], "an argument", "jacobian")
    state = seed()
    (y, pullback) = __call2(__derive_fwd(f, __mask((k,))), args)
    __array_only(y, "a result", "jacobian")
    if (rank(x) == 0 and rank(y) == 0) {
      return __finish(__cot_index(__argument_cotangents(pullback, ones_like(y)), k, none), x)
    }
    if (size(x) < size(y)) {
      (z, columns) = __forward_columns(f, args, k, state, true)
      return __columns(columns, z, x)
    }
    rows = ()
    for (i in 0..size(y)) {
      e = if (rank(y) == 0) { ones_like(y) } else { __unit(y, i) }
      rows = append(rows, __finish(__cot_index(__argument_cotangents(pullback, e), k, none), x))
    }
    if (size(y) == 0) { return zeros(__joined(shape(y), shape(x))) }
    reshape(stack(rows), __joined(shape(y), shape(x)))
  }
}

# hessian(f): a function giving the second derivatives of f, whose result is one float, by every two
# elements of its argument: forward over reverse, a column at a time.
#   hessian(fn(x) = x[0] ^ 2 * x[1])([1, 2])  # [[4, 2], [2, 0]]
#   hessian(fn(x) = x ^ 3)(2)  # 12
fn hessian(f, wrt = 0) {
  __wrt_fits(f, wrt, "hessian")
  fn(args...) {
    k = __wrt(f, wrt, args)[0]
    __array_only(args[k], "an argument", "hessian")
    (g, columns) = __forward_columns(grad(f, wrt), args, k, seed(), false)
    if (rank(args[k]) == 0) { columns[0] } else { __columns(columns, g, args[k]) }
  }
}

# hvp(f, x, v): the Hessian of f at x times v, forward over reverse, without forming the Hessian.
#   hvp(fn(x) = sum(x ^ 3), [1, 2], [1, 0])  # [6, 0]
#   hvp(fn(x) = x ^ 3, 2.0, 1.0)  # 12
fn hvp(f, x, v) = jvp(grad(f), (x,), (v,))[1]

# custom_vjp(f, back): the function f with a derivative of its own: back(dy, y, args...) gives the
# cotangent of the argument, or the tuple of them when there are several.
#   grad(custom_vjp(round, fn(dy, y, x) = dy))(2.4)  # 1
#   custom_vjp(fn(x) = x + 1, fn(dy, y, x) = dy)(1)  # 2
fn custom_vjp(f, back) = __custom(f, back)

# The tangent of a custom_vjp function: the transpose of back, which is linear in dy.
fn __custom_jvp(f, back, args, tangents) {
  y = f(args...)
  (d, transpose) = vjp(fn(dy) = back(dy, y, args...), zeros_like(y))
  (y, transpose(if (len(args) == 1) { tangents[0] } else { tangents }))
}

# saved(f, args...): what the forward pass of f, differentiated by every argument, would keep for the adjoint
# program. values has a record for each: {name, dtype, shape, count, bytes, line, function, from, needed,
# needed_line, block}: from is "computed", "argument", "captured" or "kept by the block"; needed is what the adjoint
# program wants it for; block is the line of the checkpoint block that is replayed from it, else 0. blocks has
# {line, function, count, enters, bytes} for each block. bytes is the sum of what was computed, given_bytes that of
# arguments and captured values (a scalar is no array and counts 0).
#   saved(fn(x) = sum(exp(x)), [1, 2]).bytes  # 16
#   saved(fn(x) = sum(2 * x), [1, 2]).bytes  # 0
fn saved(f, args...) {
  (y, pullback) = __call2(__derive_fwd(f, __mask(none)), args)
  __saved(pullback, f, args)
}

# check_grad(f, args...): compares the gradient of f with central differences at every element of every
# float argument. table has a row for each: derivative, central difference, relative error; worst is the
# largest error.
#   check_grad(fn(x) = sum(sin(x)), [1, 2]).worst < 1e-6  # true
#   shape(check_grad(fn(x) = x ^ 2, 3.0).table)  # (1, 3)
fn check_grad(f, args...) {
  state = seed()
  p = flatten(args)
  loss = fn(v) { seed(state); f(unflatten(v, args)...) }
  g = grad(loss)(p)
  worst = 0.0
  table = zeros(size(p), 3)
  __hush(true) # the gradient printed
  unit = if (dtype(p) == "f32") { 1e-2 } else { 6e-6 }
  for (i in 0..size(p)) {
    h = unit * maximum(1.0, abs(p[i]))
    up = p
    up[i] = p[i] + h
    down = p
    down[i] = p[i] - h
    slope = (loss(up) - loss(down)) / (up[i] - down[i])
    error = abs(g[i] - slope) / maximum(1.0, maximum(abs(g[i]), abs(slope)))
    table[i, :] = [g[i], slope, error]
    worst = maximum(worst, error)
  }
  __hush(false)
  seed(state)
  {table: table, worst: worst}
}
