# A bit of everything: records, tuples, updates, branches, loops, a block, calls of functions given and known.
fn inner(q, k) { (a, b) = q.pair; {y: a * k[0:2] + b, z: q.w[1] } }
fn f(p, x) {
  r = inner(p, x)
  t = (r.y, r.z)
  p.w[0] = sum(t[0])
  v = if (r.z > 0) { (p.w[0], r.z * 2) } else { (r.z, 1.0) }
  m = map(fn(u) = u * r.z, x)
  c = try(fn(u) = u * 2, r.z)[0]
  z = [r.z, c, sum(m)]
  h = checkpoint < sin(sin(z) * v[0]) * v[0] >
  for ((i, u) in enumerate(x)) { h = h + u * i }
  while (sum(h) > 1e9) { h = h / 2 }
  sum(h[1:]) + v[1] + p.pair[0] + abs(x[::-1][0])
}
p = {w: [1.0, 2.0, 3.0], pair: (1.0, 2.0)}
x = [0.5, 1.5, 2.5]
print(f(p, x), grad(f)(p, x))
