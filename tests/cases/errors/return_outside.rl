# error: syntax 2:1 `return` stands outside of any function
return 3
