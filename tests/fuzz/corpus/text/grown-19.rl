# Linear algebra: errors say which matrix; einsum; lstsq; what linalg adds.
import "linalg" as linalg
a = [[4, 2], [2, 5]]
print(try(inv, [[1, 2], [2, 4]])[1])          # expect: inv(): a is singular and has no inverse
     # expect: solve(): a is singular: no x solves a @ x == b for every b
print(try(cholesky, stack((a, -a)))[1])       # expect: cholesky(): the matrix a[1] is not positive definite
print(try(logdet, [[0, 1], [1, 0]])[1])       # expect: logdet(): a has a negative determinant, which has no logarithm
print(try(det, ones(2, 3))[1])                # expect: det(): a must be square in its last two axes, and has shape [2, 3]
print(try(solve, a, [1, 2, 3])[1])            # expect: solve(): b has 3 rows and a, of 2 by 2, wants 2
print(try(eigh, [[1, nan], [nan, 1]])[1])     # expect: eigh(): a holds a nan
hessian            # expect: [[ 4, -2],
                                              # expect:  [-2,  1]]
print(norm(hessian(det)([[1, 2], [2, 4]])))   # expect: 2
print(einsum("ij,kj,k->i", a, a, [1, 2]))     # indow (size and dilation) that spans 3 elements does not fit into the 2 of x (padding included); w has shape [1, 1, 3, 3]
