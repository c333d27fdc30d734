# fuse_memory.rl: what only a sum reads never becomes an array.


;

 
(checkpoint < 1_000_000 >)
grad(fn(x) = 4)(0.5)

# expect: true 1
