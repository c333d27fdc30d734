# Memory that is used up to the last byte leaves room to say so.
# options: --limit 1150KB
# error: memory
t = ()
while (true) { t = append(t, "abc" + "d") }
