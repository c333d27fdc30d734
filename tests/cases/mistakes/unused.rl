fn f(p) {
  p.w - 1
  p
}
print(f({w: 1}))
# expect: {w: 1}
# warning: unused 2:3 nothing is done with the result of this
# help: values do not change by themselves; write `p.w -= 1`
# fix 2:   p.w -= 1
