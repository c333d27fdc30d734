# The value of a block is its last statement's, if that is an expression.
a = if (true) { x = 3 }
print(a)                              # expect: none
b = if (false) { 1 }
print(b)                              # expect: none
c = if (false) { 1 } else if (true) { x; x + 1 } else { 3 }
print(c)                              # expect: 4
fn f() { fn g() = 1 }
print(f())                            # expect: none
fn h() { }
print(h())                            # expect: none
print(type({}), type(()), type(none), type("s"), type(1), type(f))  # expect: record tuple none string array function
