# warning: unreachable 4:3 this is never reached
fn f() {
  return 1
  print("never")
}
print(f())                    # expect: 1
