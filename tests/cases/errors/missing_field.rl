# error: name 3:9
p = {weight: 1}
print(p.wieght)
