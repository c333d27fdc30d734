n = i64(10)
print(n^-2)
# error: arithmetic 2:8 ^: a negative power of an integer: 10 ^ -2
# help: for a float, write 10.0^-2
# fix 2: print(10.0^-2)
