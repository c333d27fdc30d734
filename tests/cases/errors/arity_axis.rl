# error: arity 3:19 sum() has no parameter `axes`
# help: did you mean `axis`?
print(sum([1, 2], axes = 0))
