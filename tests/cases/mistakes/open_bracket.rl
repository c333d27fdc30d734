x = [1, 2, 3
print(x)
# error: syntax 2:1 expected `,` or `]` to close the `[` opened at 1:5, found `print`
# help: close it: `[1, 2, 3]`
# fix 1: x = [1, 2, 3]
