x = 1
print(checkpoint < x + 1 >)
