# A module for texts.rl.
fn square(x) = x * x
