# measure.rl: what the workloads share. gradient(name, loss, p) takes the gradient of loss at p once, then as
# often as the first argument of the program says (5 without one), and prints one line: the name, the
# milliseconds of the first step, the median of the others, the loss, the norm of the gradient, and memory above
# that of the inputs, in MiB: `grown` is the resident set's peak, `live` that of arrays in one further step.

# The k-th argument of the program as a whole number.
fn number(k, otherwise) {
  if (len(args()) <= k) { return otherwise }
  n = i64(0)
  for (digit in ord(args()[k])) { n = 10 * n + digit - 48 }
  n
}

fn word(k, otherwise) = if (len(args()) > k) { args()[k] } else { otherwise }

# noise(k, shape): the k-th array of numbers of mean 0 and variance 1 that a peer can make as well, exactly. A
# million at a time, so that what it takes to make them does not hide what a step takes.
fn noise(k, shape) {
  n = 1
  for (d in shape) { n = n * d }
  x = ()
  for (part in 0..(n + 999_999) // 1_000_000) {
    i = 1_000_000 * part..minimum(n, 1_000_000 * (part + 1))
    u = (i * i * 12345 + i * 2654435 + 97 * k + 1) % 2147483647 / 2147483647.0
    some = (f64(u) - 0.5) * sqrt(12.0)
    x = append(x, if (dtype([0.0]) == "f32") { f32(some) } else { some })
  }
  reshape(concat(x), shape)
}

# norm_of(g): of all numbers in g together.
fn norm_of(g) = sqrt(sum(f64(flatten(g)) ^ 2))

# resident(what): a line of the kernel's about this process, "VmRSS" or "VmHWM" (the peak), in MiB.
fn resident(what) {
  kib = i64(0)
  for (line in split(read_text("/proc/self/status"), "\n")) {
    words = split(line, ":")
    if (words[0] == what) {
      for (c in ord(words[1])) { if (c >= 48 and c <= 57) { kib = 10 * kib + c - 48 } }
    }
  }
  kib / 1024
}

# gradient(name, loss, p): see above.
fn gradient(name, loss, p) {
  both = value_and_grad(loss)
  repeat(name, fn() = both(p), norm_of, 5)
}

# repeat(name, step, norm, often): the same for any step, which gives a loss and what norm is to be taken of.
fn repeat(name, step, norm, often) {
  before = resident("VmRSS")
  times = []
  for (i in 0..number(0, often) + 1) {
    start = time()
    (loss, g) = step()
    times = concat((times, [1000 * (time() - start)]))
  }
  peak = resident("VmHWM")
  size = norm(g)
  g = none
  held = measure(fn() = 0).peak_bytes
  live = measure(step).peak_bytes - held
  rest = if (len(times) > 1) { times[1:] } else { times }
  print(format("{} first_ms {:.3f} median_ms {:.3f} loss {:.9e} gradient {:.9e} grown {:.1f} live {:.1f}",
               name, times[0], median(rest), f64(loss), f64(size), peak - before, live / 1048576))
}
