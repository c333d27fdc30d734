# heat.rl: where was the heat? The first temperatures along a bar, found from the last ones by gradients
# through 150 steps of the heat equation. A gradient keeps 10 of the states and makes the others again.

import "optim" as optim

(cells, steps) = (60, 150)

# One step in time; the ends are insulated.
fn step(u) {
  right = concat((u[1:], u[-1:]))
  left = concat((u[:1], u[:-1]))
  u + 0.25 * (left - 2 * u + right)
}

fn last(u) {
  checkpoint (slots = 10) < for (i in 0..steps) { u = step(u) } >
  u
}

# Two hot places, which melt into one.
x = linspace(0, 1, cells)
first = exp(-((x - 0.3) / 0.08) ^ 2) + 0.6 * exp(-((x - 0.7) / 0.08) ^ 2)
seen = last(first)

# The heat equation forgets; the second term asks for the flattest of the answers that fit.
fn loss(u) = sum((last(u) - seen) ^ 2) + 1e-8 * sum((u[1:] - u[:-1]) ^ 2)
u = optim.lbfgs(loss, zeros(cells), steps = 60).p

fn picture(u) {
  line = ""
  for (k in i64(clamp(round(u * 9), 0, 9))) { line = line + " .:-=+*#%@"[k] }
  line
}
print("first |" + picture(first) + "|")
print("last  |" + picture(seen) + "|")
print("found |" + picture(u) + "|")
print(format("difference to the last {:.0e}, to the first {:.2f}", norm(last(u) - seen), norm(u - first) / norm(first)))

# expect: first |          ..:-+*%@@%#*=-:.         .::-=++++=-:..           |
# expect: last  |......:::::-----------------:::::::::::::::::::::...........|
# expect: found |          .:-=+*##%##*+=-:.       .:--==+===--::..          |
# expect: difference to the last 3e-04, to the first 0.21
