# error: syntax 2:22 `break` cannot stand in the condition of a loop
while (if (true) {   break } else { true }) { }
