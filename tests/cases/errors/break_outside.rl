# error: syntax 3:3 `break` stands outside of any loop
if (true) {
  break
}
