x = true && false
# error: syntax 1:10 there is no operator `&&`
# help: write `and`
# fix 1: x = true and false
