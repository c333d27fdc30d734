# error: contract






2 and 2

print


