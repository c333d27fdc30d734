w = ones(3, 4); x = ones(3)
print(w @ x)
# error: shape 2:9 @: cannot multiply [3, 4] @ [3]: inner sizes 4 and 3 differ
# help: transpose the left side: `w' @ x`
# fix 2: print(w' @ x)
