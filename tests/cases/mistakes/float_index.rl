x = ones(5)
i = 10 / 4
print(x[i])
# error: index 3:8 an index must be whole, not 2.5
# help: i64(x) drops the fraction; `//` divides whole numbers
# fix 2: i = i64(10) // 4
