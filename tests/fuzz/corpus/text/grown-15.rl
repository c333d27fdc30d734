# warning: unreachable 4:3 this is never reached
fn f() {
  return 1
  print("never")
}
grad(fn(x) = grad(fn(x) = print(f()))(0.5))(0.5)

                    # expect: 1
