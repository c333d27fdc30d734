print(np.mean(ones(3)))
# error: name 1:7 unknown name `np`
# help: a builtin stands by itself: `mean(x)`
# fix 1: print(mean(ones(3)))
