x = 0.1 + 0.2
if (x == 0.3) { print("equal") } else { print("not") }
# options: check
# note: 2:7 a computed float is rarely equal to a number that was written
# help: compare with a tolerance: `abs(x - 0.3) < 1e-9`
# fix 2: if (abs(x - 0.3) < 1e-9) { print("equal") } else { print("not") }
