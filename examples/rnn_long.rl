# rnn_long.rl: a recurrent network with a gate over ten thousand steps, differentiated through all of them within a
# twentieth of the memory that keeping them takes.

(units, steps) = (40, i64(10000))
seed(7)
signal = sin((0..steps) * 0.05) + 0.1 * randn(steps)
w = {h: randn(units, units) / sqrt(units), g: randn(units, units) / sqrt(units), x: randn(units), b: zeros(units), y: randn(units) / units}

# It tells the next value of the signal from those before.
fn loss(w) {
  (h, total) = (zeros(units), 0.0)
  for (t in 0..steps - 1) {
    gate = sigmoid(w.g @ h + w.b)
    h = gate * h + (1 - gate) * tanh(w.h @ h + w.x * signal[t])
    total = total + (w.y @ h - signal[t + 1]) ^ 2
  }
  total / steps
}
# The same, and nothing else is said about what to keep.
fn within(w) { checkpoint (budget = 150KB) < l = loss(w) >; l }

all = measure(fn() = value_and_grad(loss)(w))
few = measure(fn() = value_and_grad(within)(w))
print(format("the same gradient: {}", same(few.value, all.value)))
print(format("bytes at most: {} without a budget, {} within one; a twentieth or less: {}", all.peak_bytes, few.peak_bytes, few.peak_bytes * 20 <= all.peak_bytes))
print(format("each step executed {:.2f} times", few.step_runs / steps))

# expect: the same gradient: true
# expect: bytes at most: <*> without a budget, <*> within one; a twentieth or less: true
# expect: each step executed <*> times
