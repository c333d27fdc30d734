# skip: det comes with the linear algebra rows
# The derivative of a determinant at a singular matrix is its cofactors.
print(grad(det)([[1, 2], [2, 4]]))  # expect: [[4, -2],
# expect:  [-2, 1]]
