# error: syntax 3:15 `continue` stands outside of any loop of its function
for (i in 0..3) {
  f = fn() {  continue }
}
