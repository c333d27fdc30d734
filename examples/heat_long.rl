# heat_long.rl: a hundred thousand steps of heat in a bar that conducts better where it is hot, and the gradient of
# where they end by where they began, within a twentieth of the memory that keeping the steps takes.

(cells, steps) = (64, i64(100000))

# One step in time, around a ring.
fn step(u) = u + 0.1 * (1 + u * u) * (roll(u, 1) - 2 * u + roll(u, -1))

fn misfit(u, goal) {
  for (t in 0..steps) { u = step(u) }
  sum((u - goal) ^ 2)
}
# The same, and nothing else is said about what to keep.
fn within(u, goal) { checkpoint (budget = 2500KB) < m = misfit(u, goal) >; m }

u = exp(-((0..cells) - 20) ^ 2 / 10)
goal = zeros(cells)
few = measure(fn() = grad(within)(u, goal))
all = measure(fn() = grad(misfit)(u, goal))
print(format("the same gradient: {}", same(few.value, all.value)))
print(format("bytes at most: {} without a budget, {} within one; a twentieth or less: {}", all.peak_bytes, few.peak_bytes, few.peak_bytes * 20 <= all.peak_bytes))
print(format("each step executed {:.2f} times", few.step_runs / steps))

# expect: the same gradient: true
# expect: bytes at most: <*> without a budget, <*> within one; a twentieth or less: true
# expect: each step executed <*> times
