x = true && false
# error: syntax 1:10 there is no operator `&&`
# help: write `and`
