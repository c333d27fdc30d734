print("a" + 
(2, 2))

# error: type 1:11 +: not defined between string and number
# help: make a string of the number: `"a" + format("{}", 1)`
# fix 1: print("a" + format("{}", 1))
