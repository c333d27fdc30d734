x = !true
# error: syntax 1:5 `!` means nothing here
# help: write `not x`; unequal is `!=`
# fix 1: x = not true
