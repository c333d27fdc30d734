import "linalg" as la



# error: name 2:10 there is no field `solve`
# help: `solve` stands by itself: write `solve(…)`
# fix 2: print(solve(eye(2), ones(2)))
