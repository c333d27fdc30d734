# Where a statement starts or ends with something else.
# error: syntax 15:1 this `else` has no `if` before it
# help: `else` follows the `}` of its `if` directly or on the next line
# error: syntax 16:1 a statement cannot start with `,`
# help: a tuple stands in parentheses: `(a, b)`
# error: syntax 17:6 expected a newline or `;` after `r`, found a string
# help: strings have no prefixes; `str(x)` gives a value's text
# error: syntax 18:9 expected a newline or `;` after a string
# error: syntax 19:7 expected a newline or `;` after `3`, found `:`
# help: a range is written `a..b`
# error: syntax 20:8 expected `in` after `i`, found `of`
# error: syntax 21:2 there is no operator `--`
# help: write `x -= 1`
x = 1
else { }
, x = 1
q = r"raw"
s = "a" "b"
w = 3 : 4
for (i of x) { }
x--
