# A loop that never ran leaves its variable without a value.
# error: name 4:7 `i`
for (i in 0..0) { }
print(i)
