# Solutions of lesson 8: at 0 every vector no longer than 1 is a subgradient of the norm, and 0 is the shortest. A term
# norm(w) in a loss then leaves weights that are zero alone instead of pushing them in a direction nobody chose.
print(grad(norm)(zeros(2)))
# expect: [0, 0]
