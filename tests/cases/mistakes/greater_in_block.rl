x = ones(3)
checkpoint < m = x > 0; y = where(m, x, 0 * x) >
print(y)
# error: syntax 2:20 `>` closes the `checkpoint <` opened at 2:1 and nothing can follow it here
# help: directly inside a checkpoint block put a greater-than comparison in brackets: `(a > b)`
# fix 2: checkpoint < m = (x > 0); y = where(m, x, 0 * x) >
