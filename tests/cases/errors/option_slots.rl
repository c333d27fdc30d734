# error: checkpoint 2:13 `slots` is for a block that holds one loop
checkpoint (slots = 3) < for (i in 0..3) { }; x = 1 >
