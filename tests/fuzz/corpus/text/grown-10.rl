# fuse_memory.rl: what only a sum reads never becomes an array.


;

 measure(fn() = 0).peak_bytes
(1_000_000)
4

# expect: true 1
