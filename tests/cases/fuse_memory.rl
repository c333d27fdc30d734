# fuse_memory.rl: what only a sum reads never becomes an array.

big = ones(1_000_000)
held = measure(fn() = 0).peak_bytes
print(measure(fn() = sum(big * big)).peak_bytes - held < 100_000, big[0])
# expect: true 1
