# rosenbrock.rl: Rosenbrock's curved valley by L-BFGS and by plain descent, and the path of each on paper.

import "optim" as optim

fn valley(p) = sum(100 * (p[1:] - p
)
 ^ 2) # block_keep_again^. 