# error: checkpoint 3:13 a checkpoint block has no option `slot`
# help: did you mean `slots`?
checkpoint (slot = 3) < for (i in 0..3) { } >
