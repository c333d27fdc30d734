s = 'abc'
print(s)
# error: syntax 1:5 `'` is transposition and stands behind a value
# help: strings are written with double quotes, "…"
# fix 1: s = "abc"
