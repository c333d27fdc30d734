# repl
# A failed entry leaves everything as it was.
# status: 0
# error: name unknown name `b`
# error: user no
x = 1
fn f() = 1
b
x = 2; fn f() = 2
x                             # expect: 2
x = 3; f = 4; error("no")
x                             # expect: 2
f()                           # expect: 2
_ = seed(7)
a = rand(); error("no")
p = rand(3)
_ = seed(7)
same(p, rand(3))              # expect: true
