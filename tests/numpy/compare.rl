# compare.rl: runs functions on stored inputs and compares what they give with what NumPy or PyTorch gave.
#
# A file NAME.npz holds x (the inputs), which (for each function the inputs of each call, by number), meta (for each
# call dtype, rank and shape of the result; dtype -1: an error) and values (all results' numbers, in order).

dtypes = ("bool", "i64", "f32", "f64")

# "" when y has this dtype and shape and about these numbers, else what differs.
fn _differs(y, code, shape_, want, slack) {
  if (type(y) != "array") { return format("is {}", type(y)) }
  if (dtype(y) != dtypes[code]) { return format("is {}, not {}", dtype(y), dtypes[code]) }
  if (not same(i64(shape(y)), i64(shape_))) { return format("has shape {}, not {}", shape(y), shape_) }
  have = reshape(f64(y), (-1,))
  tol = slack * (if (code == 2) { 1e-6 } else { 1e-14 })
  fine = (have == want) or (isnan(have) and isnan(want)) or (abs(have - want) <= tol * maximum(1, abs(want)))
  if (all(fine)) { "" } else { format("is {}, not {}", have, want) }
}

# Prints each difference; gives (comparisons, differences).
fn run(path, functions, slack = 1) {
  d = load(path)
  p = 0
  q = 0
  count = 0
  wrong = 0
  for ((k, (name, f)) in enumerate(functions)) {
    for (row in d.which[k]) {
      args = ()
      for (i in row) { args = append(args, d.x[i]) }
      (y, failed) = try(f, args...)
      code = d.meta[p]
      rank_ = d.meta[p + 1]
      shape_ = ()
      n = 1
      for (i in p + 2 .. p + 2 + rank_) {
        shape_ = append(shape_, d.meta[i])
        n = n * d.meta[i]
      }
      p = p + 2 + rank_
      said = ""
      if (code < 0) {
        if (same(failed, none)) { said = "is no error" }
      } else {
        want = d.values[q : q + n]
        q = q + n
        said = if (same(failed, none)) { _differs(y, code, shape_, want, slack) } else { failed }
      }
      count = count + 1
      if (said != "") {
        wrong = wrong + 1
        if (wrong <= 20) { print(format("{}: {} {}", name, said, args)) }
      }
    }
  }
  (count, wrong)
}
