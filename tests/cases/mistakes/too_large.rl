x = zeros(1e19)
print(x)
# error: shape 1:5 zeros(): shape holds 1e+19, which is too large
