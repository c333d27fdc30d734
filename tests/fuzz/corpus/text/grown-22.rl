# Blocks that save something get no warning, however little they save, and whatever else is large.
# quiet
w = sin(reshape(0..400, 20, 20))
x0 = sin(0..20)
fn stage(x) { checkpoint < for (j in 0..4) { x = tanh(w @ x) } >; x }
#)call; scalars
print(sum(stage(x0)) > -100)                # expect: true
fn kept(x) { for (i in 0..4) { checkpoint (save = "dots") < for (j in 0..3) { x = tanh(sin(w @ x)) } > }; sum(x)
(x)
 }
g = grad(kept)(x0)

