learning_rate = 0.1
print(learing_rate * 2)
# error: name 2:7 unknown name `learing_rate`
# help: did you mean `learning_rate`?
# fix 2: print(learning_rate * 2)
