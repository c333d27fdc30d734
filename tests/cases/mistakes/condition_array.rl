x = [1.0, -1.0]
if (x > 0) { print("positive") }
# error: type 2:5 a condition must be one bool, and this is bool[2]
# help: use any(…) or all(…)
# fix 2: if (any(x > 0)) { print("positive") }
