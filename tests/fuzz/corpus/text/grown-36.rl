# error: syntax 2:22 in the condition of a loop
while (if (true) {   break
layer
 } else { true }) { }
