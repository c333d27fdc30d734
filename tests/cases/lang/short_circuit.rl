# `and` and `or` do not evaluate what does not matter; on arrays they go element by element.
fn loud(x) { print("evaluated"); x }
print(false and loud(true))   # expect: false
print(true or loud(true))     # expect: true
print(true and loud(false))   # expect: evaluated
# expect: false
print(false or loud(true))    # expect: evaluated
# expect: true
x = [1, 5, 9]
print(x > 2 and x < 9)        # expect: [false, true, false]
print(x < 2 or x > 5)         # expect: [true, false, true]
i = 3
print(i < 3 and x[i] > 0)     # expect: false
print(1 < 2 and 2 < 3 and 3 < 4 and loud(4 < 3))  # expect: evaluated
# expect: false
