c = true
x = 1 if c else 2
# error: syntax 2:7 expected a newline or `;` after `1`, found `if`
# help: to choose, write `if (c) { a } else { b }`
# fix 2: x = if (c) { 1 } else { 2 }
