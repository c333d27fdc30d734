# error: value 2:1 2
(a, b) = (1, 2, 3)
