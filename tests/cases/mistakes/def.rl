def f(x):
    return x
# error: syntax 1:1 `def` is no keyword of Replay
# help: a function is `fn f(x) = …` or `fn f(x) { … }`
# fix 1: fn f(x) {
# fix 2:     return x }
