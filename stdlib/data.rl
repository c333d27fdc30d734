# data.rl: getting a table into arrays, and arrays into batches.
#
# A table is a record of columns: what `load` makes of a csv file. A column is a vector of numbers, a
# missing one nan, or a tuple of strings.

# --- tables ---------------------------------------------------------------------------------------

# count(x): how many rows; x is an array, a column, or a record or tuple of arrays of equally many.
fn count(x) {
  if (type(x) == "record") { return count(x[keys(x)[0]]) }
  if (type(x) == "tuple" and len(x) > 0 and type(x[0]) != "string") { return count(x[0]) }
  len(x)
}

# rows(x, ids): the rows ids, whole numbers, of an array, a column of strings, or a structure of them.
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

# columns(table, names): the named number columns as a matrix, one row for each of the table's.
fn columns(table, names) = stack(map(fn(k) = table[k], names), axis = 1)

# complete(table): the table without the rows that miss a number.
fn complete(table) {
  good = ones(count(table)) > 0
  for (k in keys(table)) {
    if (type(table[k]) == "array") { good = good and not isnan(table[k]) }
  }
  rows(table, nonzero(good)[0])
}

# codes(column): (a whole number for each string, the strings these stand for, in order of appearance).
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

# moments(x): {mean, std} of each column of x, a std of 0 counted as 1.
fn moments(x) {
  s = std(x, axis = 0)
  {mean: mean(x, axis = 0), std: where(s == 0, 1, s)}
}

# normalise(x): each column with mean 0 and deviation 1; by: the moments to use, as for a test set.
fn normalise(x, by = none) {
  m = if (by == none) { moments(x) } else { by }
  (x - m.mean) / m.std
}

# rescale(x): each column brought into [0, 1].
fn rescale(x) {
  lo = min(x, axis = 0)
  width = max(x, axis = 0) - lo
  (x - lo) / where(width == 0, 1, width)
}

# --- parts ----------------------------------------------------------------------------------------

# shuffle(x): the rows of x in random order, the same for every part of a structure.
fn shuffle(x) = rows(x, permutation(count(x)))

# split(x, fraction): (a random `fraction` of the rows, the others), the same for every part.
fn split(x, fraction = 0.8) {
  n = count(x)
  order = permutation(n)
  cut = i64(round(fraction * n))
  (rows(x, order[:cut]), rows(x, order[cut:]))
}

# batches(n, size): a tuple of vectors of whole numbers, together 0..n in random order; the last one is
# shorter if it must, or left out when `whole`.
fn batches(n, size, whole = false) {
  order = permutation(n)
  end = if (whole) { n - n % size } else { n }
  parts = ()
  for (i in 0..(end + size - 1) // size) { parts = append(parts, order[i * size : minimum((i + 1) * size, n)]) }
  parts
}

# folds(n, k): k tuples (training rows, test rows), each row in one test set, for cross-validation.
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
fn windows(x, n) = x[(0..len(x) - n + 1)[:, none] + (0..n)[none, :]]
