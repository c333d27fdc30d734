while (rand() < 0.5) { 
2
 ones }
print
 10 
# error: index 3:8 an index must be whole, not 2.5
# help: i64(x) drops the fraction; `//` divides whole numbers
# fix 2: i = i64(10) // 4
