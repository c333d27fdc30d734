# save_state and load: every kind of value comes back as it was, and the random state with it.
tmp = "/tmp/replay-case"
p = {w: [[1.5, 2], [3, -0.0]], f: f32([1, nan, inf]), i: 0..3, b: [true, false], n: none, s: "é\n", e: zeros(0, 3), r: {}, u: (),
  t: (1, 2.5, true, f32(0.1), i64(7), f64(i64(2)), ((), "")), v: [[1, 2], [3, 4]]', g: i64([[-9223372036854775807]])}
seed(5)
rand(3)
save_state(tmp, p)
next = rand(2)
q = load(tmp)
print(same(p, q), same(next, rand(2)), same(keys(q), keys(p)))  # expect: true true true
# Weakness belongs to the value.
print(dtype(i64(1) * q.t[0]), dtype(i64(1) * q.t[1]), dtype(f32(1) * q.t[1]), dtype(f32(1) * q.t[5]))  # expect: i64 f64 f32 f64
# Deep, and shared: as large in the file as in memory.
t = ()
for (i in 0..200000) { t = (i, t) }
save_state(tmp, t)
print(same(load(tmp), t))  # expect: true
d = (p, p)
for (i in 0..60) { d = (d, d) }
save_state(tmp, d)
(d, e) = load(tmp)
for (i in 0..59) { d = d[0] }
print(same(d, (p, p)))  # expect: true
# A suffix of its own, by which save writes it, too; another one does not matter.
save(tmp + ".state", p)
save_state(tmp + ".csv", p)
print(same(load(tmp + ".state"), p), same(load(tmp + ".csv"), p))  # expect: true true
# Within a block under a gradient, what was loaded the first time counts, and so does the random state it set.
fn f(x) {
  checkpoint <
    a = rand()
    path = (tmp,)
    s = load(path...)
    y = x * a * sum(rand(3)) * s.x
    save_state(tmp, {x: s.x + 1})
    z = sin(y) * load(tmp).x * rand()
  >
  z * rand()
}
fn plain(x) {
  a = rand()
  path = (tmp,)
  s = load(path...)
  y = x * a * sum(rand(3)) * s.x
  save_state(tmp, {x: s.x + 1})
  z = sin(y) * load(tmp).x * rand()
  z * rand()
}
fn run(f) {
  seed(9)
  rand(7)
  save_state(tmp, {x: 3.0})
  seed(1)
  (value_and_grad(f)(2.0), load(tmp), rand())
}
print(same(run(f), run(plain)), same(run(grad(f)), run(grad(plain))))  # expect: true true
# What it cannot hold, and what it is not.
fn why(result) = replace(result[1], tmp, "t")
print(why(try(save_state, tmp, {a: (1, {b: sin})})))  # expect: save_state(): t: a[1].b is a function, which a saved state cannot hold
print(why(try(save_state, tmp + "/a", 1)))            # expect: save_state(): t/a: cannot be written: Not a directory
print(why(try(save_state, "/tmp", 1)))                # expect: save_state(): /tmp: cannot be written: this is a folder
write_text(tmp + ".state", "{\"a\": 1}, and more")
print(why(try(load, tmp + ".state")))                 # expect: load(): t.state: it does not start as a saved state does
write_text(tmp + ".state", "")
print(why(try(load, tmp + ".state")))                 # expect: load(): t.state: the file ends at byte 0, within the first bytes of 8 bytes from byte 0
