# What cannot be assigned to, and why.
# error: syntax 15:1 a literal cannot be assigned to
# error: syntax 16:1 `none` is a keyword and cannot be assigned to
# error: syntax 17:5 a literal cannot be assigned to
# error: syntax 18:1 an array in brackets cannot be assigned to; a tuple of names is written `(a, b)`
# error: syntax 19:1 a record in braces cannot be assigned to
# error: syntax 20:1 a transpose cannot be assigned to
# error: syntax 21:1 the result of a call cannot be assigned to
# error: syntax 22:4 `=` cannot stand here: an assignment is a statement of its own
# error: syntax 23:8 `=` cannot stand here
# help: to compare, write `==`
# help: a target is a name, a path such as `p.w[0]`, or a tuple of targets
x = 1
fn f(x) = x
1 = x
none = 2
(a, 3) = (1, 2)
[a, b] = (1, 2)
{a: b} = 3
x' = 2
f(x) = 3
-x = 2
z = (x = 2)
