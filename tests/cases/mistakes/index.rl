x = [1.0, 2.0, 3.0]
print(x[3])
# error: index 2:8 index 3 is out of range for axis 0, which has 3 elements
# help: counting begins at 0: the last is `x[-1]`
# fix 2: print(x[-1])
