# error: checkpoint 3:34 the value of `slots` must be known before the program runs
fn f(n) {
             checkpoint (slots = n) < for (i in 0..3) { } >
}
