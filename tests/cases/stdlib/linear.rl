# Linear algebra: errors say which matrix; einsum; lstsq; what linalg adds.
import "linalg" as linalg
a = [[4, 2], [2, 5]]
print(try(inv, [[1, 2], [2, 4]])[1])          # expect: inv(): a is singular and has no inverse
print(try(solve, zeros(2, 2), [1, 2])[1])     # expect: solve(): a is singular: no x solves a @ x == b for every b
print(try(cholesky, stack((a, -a)))[1])       # expect: cholesky(): the matrix a[1] is not positive definite
print(try(logdet, [[0, 1], [1, 0]])[1])       # expect: logdet(): a has a negative determinant, which has no logarithm
print(try(det, ones(2, 3))[1])                # expect: det(): a must be square in its last two axes, and has shape [2, 3]
print(try(solve, a, [1, 2, 3])[1])            # expect: solve(): b has 3 rows and a, of 2 by 2, wants 2
print(try(eigh, [[1, nan], [nan, 1]])[1])     # expect: eigh(): a holds a nan
print(grad(det)([[1, 2], [2, 4]]))            # expect: [[ 4, -2],
                                              # expect:  [-2,  1]]
print(norm(hessian(det)([[1, 2], [2, 4]])))   # expect: 2
print(einsum("ij,kj,k->i", a, a, [1, 2]))     # expect: [56, 76]
print(einsum("ii", a), einsum("ii->i", a))    # expect: 9 [4, 5]
print(try(einsum, "ij,jk", a, ones(3, 2))[1]) # expect: einsum(): `j` stands for an axis of 2 elements, and for one of 3 in operand 2
print(try(einsum, "ij", ones(3))[1])          # expect: einsum(): operand 1 has 1 axes, and its subscripts name 2
print(lstsq([[1, 1], [1, 2], [1, 3]], [1, 2, 3])[2])  # expect: 2
print(linalg.matrix_rank([[1, 2], [2, 4]]))   # expect: 1
print(norm(linalg.matrix_function(exp, a) - linalg.expm(a)) < 1e-9 * norm(linalg.expm(a)))  # expect: true
print(shape(conv2d(ones(1, 1, 5, 5), ones(2, 1, 3, 3))))  # expect: (1, 2, 3, 3)
print(try(conv2d, ones(1, 2, 5, 5), ones(2, 1, 3, 3))[1])  # expect: conv2d(): x: [1, 2, 5, 5] has its channels along axis 1, and w: [2, 1, 3, 3] fits x of 1 channels in 1 group
print(try(conv2d, ones(1, 1, 2, 2), ones(1, 1, 3, 3))[1])  # expect: conv2d(): a window (size and dilation) that spans 3 elements does not fit into the 2 of x (padding included); w has shape [1, 1, 3, 3]
