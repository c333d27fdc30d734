# prelude.rl: functions that take functions. Loaded at the start; its top-level names are builtins.
#
# What is gone over is an array (along its first axis), a record of such (part by part), or a tuple
# (element by element). Results for arrays and records are stacked part by part, those for a tuple are
# a tuple.

fn __length_of(x) {
  if (type(x) != "record") { return __iter_len(x) }
  n = none
  for (name in keys(x)) {
    k = __length_of(x[name])
    assert(same(n, none) or same(n, k), "the parts of a record that is gone over have one length")
    n = k
  }
  assert(type(n) == "array", "a record without parts has no items")
  n
}

fn __common_length(xs) {
  n = __length_of(xs[0])
  for (x in xs[1:]) { assert(same(__length_of(x), n), "what is gone over together has one length") }
  n
}

fn __item(x, k) {
  if (type(x) != "record") { return x[k] }
  r = {}
  for (name in keys(x)) { r[name] = __item(x[name], k) }
  r
}

fn __items(xs, k) {
  t = ()
  for (x in xs) { t = append(t, __item(x, k)) }
  t
}

fn __picked(ys, k) {
  t = ()
  for (y in ys) { t = append(t, y[k]) }
  t
}

fn __stacked(ys) {
  if (len(ys) == 0) { return zeros(0) }
  y = ys[0]
  kind = type(y)
  if (kind == "record") {
    r = {}
    for (name in keys(y)) { r[name] = __stacked(__picked(ys, name)) }
    return r
  }
  if (kind == "tuple") {
    t = ()
    for (k in 0..len(y)) { t = append(t, __stacked(__picked(ys, k))) }
    return t
  }
  if (kind == "array") { stack(ys) } else { ys }
}

fn __gathered(ys, xs) = if (type(xs[0]) == "tuple") { ys } else { __stacked(ys) }

# map(f, xs, ys...): f of each item; of several, f of the items at the same place. Of a tuple a tuple of results; else
# these are stacked, part by part.
#   map(fn(x) = 10 * x, [1, 2, 3])  # [10, 20, 30]
#   map(fn(x, y) = x + y, ("a", "b"), ("c", "d"))  # ("ac", "bd")
fn map(f, xs, more...) {
  ys = ()
  if (len(more) == 0 and type(xs) != "record") {
    for (x in xs) { ys = append(ys, f(x)) }
    return __gathered(ys, (xs,))
  }
  all = __prepend(xs, more)
  for (k in 0..__common_length(all)) { ys = append(ys, f(__items(all, k)...)) }
  __gathered(ys, all)
}

# fold(f, init, xs...): carry = f(carry, x) for each item x, from init on; the last carry.
#   fold(fn(sum, x) = sum + x, 0, [1, 2, 3])  # 6
#   fold(fn(h, x) = 0.5 * h + x, 0, [8, 4])  # 8
fn fold(f, init, xs...) {
  carry = init
  if (len(xs) == 1 and type(xs[0]) != "record") {
    for (x in xs[0]) { carry = f(carry, x) }
    return carry
  }
  for (k in 0..__common_length(xs)) { carry = f(carry, __items(xs, k)...) }
  carry
}

# scan(f, init, xs...): f(carry, x) gives (carry, y) for each item x; (last carry, all y), these put together as by map.
#   scan(fn(sum, x) = (sum + x, sum), 0, [1, 2, 3])  # (6, [0, 1, 3])
#   scan(fn(h, x) = (x, h), "a", ("b", "c"))  # ("c", ("a", "b"))
fn scan(f, init, xs...) {
  carry = init
  ys = ()
  for (k in 0..__common_length(xs)) {
    (carry, y) = f(carry, __items(xs, k)...)
    ys = append(ys, y)
  }
  (carry, __gathered(ys, xs))
}

# tree_map(f, p, q...): f of every part of p (and the parts of q at the same place) that is neither a
# record nor a tuple; the results in p's structure.
#   tree_map(fn(x) = 2 * x, {w: [1, 2], b: (3, 4)})  # {w: [2, 4], b: (6, 8)}
#   tree_map(fn(x, y) = x - y, (5, 6), (1, 2))  # (4, 4)
fn tree_map(f, p, more...) {
  kind = type(p)
  if (kind == "record") {
    r = {}
    for (name in keys(p)) { r[name] = tree_map(f, p[name], __picked(more, name)...) }
    return r
  }
  if (kind == "tuple") {
    t = ()
    for (k in 0..len(p)) { t = append(t, tree_map(f, p[k], __picked(more, k)...)) }
    return t
  }
  f(p, more...)
}

# try(f, args...): (f(args...), none), or (none, message) when that fails. Want of memory is never caught.
#   try(sqrt, 4)  # (2, none)
#   try(fn() = error("no"))  # (none, "no")
fn try(f, args...) = __try(f, args)

# measure(f): runs f() and gives {value, seconds, peak_bytes, saved_peak_bytes, replays, step_runs, steps,
# snapshots_peak}.
#   measure(fn() = 1 + 1).value  # 2
#   measure(fn() = zeros(1000)).peak_bytes >= 8000  # true
fn measure(f) {
  (result, cost) = __measure(f, ())
  r = {value: result}
  for (name in keys(cost)) { r[name] = cost[name] }
  r
}

fn __shapes(xs) {
  t = ()
  for (x in xs) { t = append(t, shape(x)) }
  t
}

fn __axes(x, axes) = if (len(axes) > 1) { transpose(x, axes) } else { x }

# einsum(subscripts, operands...): sums of products named by letters, as NumPy's: einsum("ij,jk->ik", a, b) is a @ b.
# Letters that do not stand behind `->` are summed over; `...` stands for further axes. Any number of operands, in
# pairs and in the order that takes the fewest multiplications.
#   einsum("ij,jk->ik", [[1, 2]], [[3], [4]])  # [[11]]
#   einsum("ii", [[1, 2], [3, 4]])  # 5
fn einsum(subscripts, operands...) {
  (singles, pairs, axes) = __einsum_plan(subscripts, __shapes(operands))
  parts = ()
  for ((x, (turns, summed)) in zip(operands, singles)) {
    for (t in turns) { x = __diag_part(transpose(x, t)) }
    parts = append(parts, if (len(summed) > 0) { sum(x, summed) } else { x })
  }
  for ((i, j, axes_i, shape_i, axes_j, shape_j, whole, summed) in pairs) {
    a = reshape(__axes(parts[i], axes_i), shape_i)
    b = reshape(__axes(parts[j], axes_j), shape_j)
    parts = append(parts, reshape(if (summed) { a @ b } else { a * b }, whole))
  }
  __axes(parts[-1], axes)
}

# lstsq(a, b): the x for which norm(a @ x - b) is least, and of those the shortest: (x, residuals, rank, s) as NumPy
# gives it, residuals the sums of squares left (none when rank is not full), s the singular values of a.
#   lstsq([[2, 0], [0, 4], [0, 0]], [2, 8, 0])[0]  # [1, 2]
#   lstsq([[1], [1]], [1, 3])[2]  # 1
fn lstsq(a, b, rcond = none) {
  (rows, columns) = shape(a)
  assert(rank(b) == 1 or rank(b) == 2, "lstsq: b is a vector or a matrix")
  assert(shape(b)[0] == rows, format("lstsq: a has {} rows, and b has {}", rows, shape(b)[0]))
  s = svd(a, full_matrices = false)[1]
  unit = if (dtype(s) == "f32") { 1.1920929e-7 } else { 2.220446049250313e-16 }
  least = if (same(rcond, none)) { unit * maximum(rows, columns) } else { rcond }
  x = pinv(a, least) @ b
  count = count_nonzero(s > least * s[:1])
  left = if (count < columns or rows <= columns) { zeros(0) } else { sum((b - a @ x) ^ 2, axis = 0, keepdims = rank(b) == 1) }
  (x, left, count, s)
}
