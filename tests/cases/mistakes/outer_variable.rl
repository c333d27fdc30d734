total = 0
fn add(x) { total = x }
add(3)
print(total)
# options: check
# note: 2:13 this `total` is the function's own; the one outside does not change
# help: return the new value, and assign it outside: `total = …`
# fix 2: fn add(x) = x
# fix 3: total = add(3)
