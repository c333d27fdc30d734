# error: syntax 5:5 expected `]` to close the `[` opened at 5:5, found the end of the text
# help: close it: `[1, 2, 3]`
# fix 5: x = [1, 2, 3]

x = [1, 2, 3
