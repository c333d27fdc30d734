# error: index 3:9 whole
x = 0..10
print(x[0.5:2])
