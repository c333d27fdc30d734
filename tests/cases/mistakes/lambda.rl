fn f(x) = lambda y: x
# error: syntax 1:11 `lambda` is no keyword of Replay
# help: a function without a name is `fn(x) = …`
# fix 1: fn f(x) = fn(y) = x
