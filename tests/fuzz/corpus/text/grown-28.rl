# error: syntax 2:1 `return` stands outside of any function
(
()
print
