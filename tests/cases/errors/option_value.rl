# error: checkpoint 2:21 `slots` must be a whole number, 1 or more
checkpoint (slots = 0) < for (i in 0..3) { } >
