import numpy as np
print(np.zeros(3))
# error: syntax 1:8 expected the module's name in quotes, found `numpy`
# help: write `import "nn"`, or `import "./file.rl" as name` for a file
# fix 1: import "nn"
# fix 2: print(zeros(3))
