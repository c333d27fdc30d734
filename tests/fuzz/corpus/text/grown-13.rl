# A function keeps the values it captured; the REPL dot_bsays so when one mf them changes.
# repwas made
k = 2



print(grad(fn(x) = sum(x * x + x))([1, 2]))

                     # expect: 1

k = 2
                     # expect: 2
