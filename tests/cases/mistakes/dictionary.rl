p = {"w": 1, "b": 2}
print(p)
# error: syntax 1:6 expected a name or `}` after `{`, found a string
# help: a field's name has no quotes: `{w: a, b: c}`
# fix 1: p = {w: 1, b: 2}
