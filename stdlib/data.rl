# data.rl: getting a table into arrays, and arrays into batches.
#
# A table is a record of columns: what `load` makes of a csv file. A column is a vector of numbers, a
# missing one nan, or a tuple of strings.

# --- tables ---------------------------------------------------------------------------------------

# count(x): how many rows; x is an array, a column, or a record or tuple of arrays of equally many.
#   data.count([[1, 2], [3, 4], [5, 6]])  # 3
#   data.count({a: [1, 2], b: ("x", "y")})  # 2
fn count(x) {
  if (type(x) == "record") { return count(x[keys(x)[0]]) }
  if (type(x) == "tuple" and len(x) > 0 and type(x[0]) != "string") { return count(x[0]) }
  len(x)
}

# rows(x, ids): the rows ids, whole numbers, of an array, a column of strings, or a structure of them.
#   data.rows(("a", "b", "c"), i64([2, 0]))  # ("c", "a")
#   data.rows({x: [1, 2, 3]}, i64([2, 0]))  # {x: [3, 1]}
fn rows(x, ids) {
  if (type(x) == "array") { return x[ids] }
  if (type(x) == "tuple") {
    if (len(x) > 0 and type(x[0]) != "string") { return map(fn(part) = rows(part, ids), x) }
    chosen = ()
    for (i in ids) { chosen = append(chosen, x[i]) }
    return chosen
  }
  for (k in keys(x)) { x[k] = rows(x[k], ids) }
  x
}

# columns(table, names): the named number columns as a matrix: [rows, names].
#   data.columns({a: [1, 2], b: [3, 4]}, ("a", "b"))  # [[1, 3], [2, 4]]
#   shape(data.columns({a: [1, 2, 3], b: [3, 4, 5]}, ("b",)))  # (3, 1)
fn columns(table, names) = stack(map(fn(k) = table[k], names), axis = 1)

# complete(table): the table without the rows that miss a number.
#   data.complete({a: [1, nan, 3], b: ("x", "y", "z")})  # {a: [1, 3], b: ("x", "z")}
#   data.complete({a: [1, 2]})  # {a: [1, 2]}
fn complete(table) {
  good = ones(count(table)) > 0
  for (k in keys(table)) {
    if (type(table[k]) == "array") { good = good and not isnan(table[k]) }
  }
  rows(table, nonzero(good)[0])
}

# codes(column): (a whole number for each string, the strings these stand for, in order of appearance).
#   data.codes(("b", "a", "b"))  # ([0, 1, 0], ("b", "a"))
#   data.codes(("x",))[1]  # ("x",)
fn codes(column) {
  names = ()
  number = {}
  ids = ()
  for (s in column) {
    if (not has(number, s)) {
      number[s] = len(names)
      names = append(names, s)
    }
    ids = append(ids, number[s])
  }
  (i64(stack(ids)), names)
}

# --- scaling --------------------------------------------------------------------------------------

# moments(x): {mean, std} of each column of x: [n, d], both [d], a std of 0 counted as 1.
#   data.moments([[1, 5], [3, 5]])  # {mean: [2, 5], std: [1, 1]}
#   data.moments([[1], [2], [3]]).mean  # [2]
fn moments(x) {
  s = std(x, axis = 0)
  {mean: mean(x, axis = 0), std: where(s == 0, 1, s)}
}

# normalise(x): x: [n, d], each column with mean 0 and deviation 1; by: the moments to use, as for a test set.
#   data.normalise([[1, 5], [3, 5]])  # [[-1, 0], [1, 0]]
#   data.normalise([[5, 7]], {mean: [1, 5], std: [2, 1]})  # [[2, 2]]
fn normalise(x, by = none) {
  m = if (by == none) { moments(x) } else { by }
  (x - m.mean) / m.std
}

# rescale(x): x: [n, d], each column brought into [0, 1].
#   data.rescale([[1, 10], [3, 30], [2, 15]])  # [[0, 0], [1, 1], [0.5, 0.25]]
#   data.rescale([[4], [4]])  # [[0], [0]]
fn rescale(x) {
  lo = min(x, axis = 0)
  width = max(x, axis = 0) - lo
  (x - lo) / where(width == 0, 1, width)
}

# --- parts ----------------------------------------------------------------------------------------

# shuffle(x): the rows of x in random order, the same for every part of a structure.
#   sort(data.shuffle([3, 1, 2]))  # [1, 2, 3]
#   shape(data.shuffle(ones(5, 2)))  # (5, 2)
fn shuffle(x) = rows(x, permutation(count(x)))

# split(x, fraction): (a random `fraction` of the rows, the others), the same for every part.
#   shape(data.split(ones(10, 2), 0.8)[0])  # (8, 2)
#   len(data.split(0..10, 0.75)[1])  # 2
fn split(x, fraction = 0.8) {
  n = count(x)
  order = permutation(n)
  cut = i64(round(fraction * n))
  (rows(x, order[:cut]), rows(x, order[cut:]))
}

# batches(n, size): a tuple of vectors of whole numbers, together 0..n in random order; the last one is
# shorter if it must, or left out when `whole`.
#   map(len, data.batches(10, 4))  # (4, 4, 2)
#   sort(concat(data.batches(5, 2)))  # [0, 1, 2, 3, 4]
fn batches(n, size, whole = false) {
  order = permutation(n)
  end = if (whole) { n - n % size } else { n }
  parts = ()
  for (i in 0..(end + size - 1) // size) { parts = append(parts, order[i * size : minimum((i + 1) * size, n)]) }
  parts
}

# folds(n, k): k tuples (training rows, test rows), each row in one test set, for cross-validation.
#   len(data.folds(10, 5))  # 5
#   map(len, data.folds(10, 5)[0])  # (8, 2)
fn folds(n, k) {
  order = permutation(n)
  parts = ()
  for (i in 0..k) {
    (lo, hi) = (i * n // k, (i + 1) * n // k)
    parts = append(parts, (concat((order[:lo], order[hi:])), order[lo:hi]))
  }
  parts
}

# windows(x, n): all stretches of n rows in a row: [rows - n + 1, n, ...].
#   data.windows([1, 2, 3, 4], 2)  # [[1, 2], [2, 3], [3, 4]]
#   shape(data.windows(ones(10, 3), 4))  # (7, 4, 3)
fn windows(x, n) = x[(0..len(x) - n + 1)[:, none] + (0..n)[none, :]]
