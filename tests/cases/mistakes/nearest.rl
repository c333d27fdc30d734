# Of names as near the one that a letter was left out of, or whose letters changed places, comes first.
# options: check
grd(1)               # error: name 3:1 unknown name `grd`
# help: did you mean `grad`?
plo([1, 2])          # error: name 5:1 unknown name `plo`
# help: did you mean `plot`?
sgin(1.0)            # error: name 7:1 unknown name `sgin`
# help: did you mean `sign`?
medan([1, 2])        # error: name 9:1 unknown name `medan`
# help: did you mean `median`?
sed(1)               # error: name 11:1 unknown name `sed`
# help: did you mean `seed`?
sum([1], axs = 0)    # error: arity 13:10 sum() has no parameter `axs`
# help: did you mean `axis`?
