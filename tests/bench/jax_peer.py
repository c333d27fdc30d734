"""jax_peer.py NAME STEPS THREADS [MODE]: a workload of this folder as idiomatic JAX (jit, lax.scan); one line as measure.rl's.

Inputs are those of the .rl file of that name; `first` holds the compilation, `compile` says how long that took
alone. Threads: as many processors as the process may use. MODE as in torch_peer.py.
"""
import os
import resource
import statistics
import sys
import time

name, steps, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
mode = sys.argv[4] if len(sys.argv) > 4 else ""
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
double = name in ("heat", "scalar", "tiny", "newton")
os.environ.update(JAX_PLATFORMS="cpu", JAX_ENABLE_X64=str(int(double)))

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

dtype = np.float64 if double else np.float32


def noise(k, *shape):
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    u = (i * i * 12345 + i * 2654435 + 97 * k + 1) % 2147483647 / 2147483647.0
    return ((u - 0.5) * np.sqrt(12.0)).reshape(shape).astype(dtype)


def mlp():
    layers, batch = (16, 4096) if mode.startswith("wide") else (64, 512)
    x, y = noise(1, batch, 512), noise(2, batch, 512)
    p = {"w": np.stack([noise(10 + i, 512, 512) / dtype(512**0.5) for i in range(layers)]), "b": np.zeros((layers, 512), dtype)}

    def layer(h, l):
        return jnp.tanh(h @ l["w"] + l["b"]), None

    def loss(p):
        h, _ = lax.scan(jax.checkpoint(layer) if mode.endswith("block") else layer, x, p)
        return ((h - y) ** 2).mean()
    return loss, p


def rnn():
    n = 256
    xs, y = noise(1, 1000, 64, n), noise(2, 64, n)
    p = {"wx": noise(3, n, n) * dtype(0.5 / n**0.5), "wh": noise(4, n, n) * dtype(1.4 / n**0.5), "b": np.zeros(n, dtype)}

    def loss(p):
        h, _ = lax.scan(lambda h, x: (jnp.tanh(x @ p["wx"] + h @ p["wh"] + p["b"]), None), jnp.zeros((64, n), dtype), xs)
        return ((h - y) ** 2).mean()
    return loss, p


def transformer():
    d, S, B, H = 256, 256, 8, 4
    x, y = noise(1, B, S, d), noise(2, B, S, d)
    p = []
    for i in range(6):
        def dense(k, rows, cols):
            return noise(10 + 10 * i + k, rows, cols) / dtype(rows**0.5), np.zeros(cols, dtype)
        norm = (np.ones(d, dtype), np.zeros(d, dtype))
        p.append([norm, *(dense(k, d, d) for k in range(4)), norm, dense(4, d, 4 * d), dense(5, 4 * d, d)])

    def heads(t):
        return t.reshape(B, S, H, d // H).swapaxes(1, 2)

    def normed(h, n):
        c = h - h.mean(-1, keepdims=True)
        return c / jnp.sqrt((c * c).mean(-1, keepdims=True) + 1e-5) * n[0] + n[1]

    def apply(t, l):
        return t @ l[0] + l[1]

    def loss(p):
        h = x
        for n1, q, k, v, o, n2, u, w in p:
            z = normed(h, n1)
            s = jax.nn.softmax(heads(apply(z, q)) @ heads(apply(z, k)).swapaxes(-1, -2) / (d // H) ** 0.5, axis=-1)
            h = h + apply((s @ heads(apply(z, v))).swapaxes(1, 2).reshape(B, S, d), o)
            h = h + apply(jax.nn.gelu(apply(normed(h, n2), u), approximate=True), w)
        return ((h - y) ** 2).mean()
    return loss, p


def chain():
    def loss(y):
        y, _ = lax.scan(lambda y, _: (jnp.sin(y) * 0.9 + jnp.exp(-y * y) * 0.1, None), y, length=100)
        return y.sum()
    return loss, noise(1, 1_000_000)


def heat():
    g = np.linspace(0, 1, 1000)

    def loss(u):
        u, _ = lax.scan(lambda u, _: (u.at[1:-1].add(0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])), None), u, length=10_000)
        return (u * u).sum()
    return loss, np.sin(3 * g) + g


def nbody():
    n = 256
    v0, mass = noise(2, n, 3) * dtype(0.1), np.ones(n, dtype) / n

    def accel(q):
        d = q[None, :, :] - q[:, None, :]
        r2 = (d * d).sum(-1) + 0.01
        return (d * (mass * r2**-1.5)[:, :, None]).sum(1)

    def step(s, _):
        q, v, a = s
        v = v + a * 0.005
        q = q + v * 0.01
        a = accel(q)
        return (q, v + a * 0.005, a), None

    def loss(q):
        (q, _, _), _ = lax.scan(step, (q, v0, accel(q)), length=200)
        return (q * q).sum()
    return loss, noise(1, n, 3)


def scalar():
    def step(s, _):
        th, om, c = s
        om = om - (jnp.sin(th) + c * om) * 1e-3
        return (th + om * 1e-3, om, c), None

    def loss(p):
        (th, _, _), _ = lax.scan(step, p, length=10_000)
        return th * th
    return loss, (1.0, 0.0, 0.01)


def run_tiny():
    x = noise(1, 32, 2)
    y = x[:, 0:1] * x[:, 1:2]
    p0 = {"w1": noise(2, 2, 16), "b1": np.zeros(16), "w2": noise(3, 16, 1) / 4, "b2": np.zeros(1)}

    def loss(p):
        return ((jnp.tanh(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"] - y) ** 2).mean()

    @jax.jit
    def step(p):
        l, g = jax.value_and_grad(loss)(p)
        return l, jax.tree.map(lambda t, d: t - 0.05 * d, p, g)

    def run():
        p = p0
        for _ in range(5000):
            l, p = step(p)
        return l, p["w1"]
    return run, step, (p0,)


def run_newton():
    x = noise(1, 500, 50)
    y = (x @ noise(2, 50) + noise(3, 500) > 0).astype(dtype)

    def loss(w):
        z = x @ w
        return (jnp.maximum(z, 0) - z * y + jnp.log1p(jnp.exp(-jnp.abs(z)))).mean() + 0.01 * (w * w).sum()

    @jax.jit
    def step(w):
        return w - jnp.linalg.solve(jax.hessian(loss)(w), jax.grad(loss)(w))

    def run():
        w = np.zeros(50)
        for _ in range(10):
            w = step(w)
        return loss(w), w
    return run, step, (np.zeros(50),)


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize() / 2**20


jax.block_until_ready(jax.jit(lambda a: jnp.tanh(a @ a))(jnp.ones((64, 64), dtype)))  # starts every lazy part
if name in ("tiny", "newton"):
    run, jitted, example = globals()["run_" + name]()
else:
    loss, p = globals()[name]()
    p = jax.tree.map(jnp.asarray, p)
    jitted, example = jax.jit(jax.value_and_grad(loss)), (p,)
    run = lambda: jitted(p)
before, times = resident(), []
for k in range(steps + 1):
    t = time.perf_counter()
    l, g = jax.block_until_ready(run())
    times.append(1e3 * (time.perf_counter() - t))
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before
t = time.perf_counter()
jax.clear_caches()
jitted.lower(*example).compile()
compiled = 1e3 * (time.perf_counter() - t)
norm = np.sqrt(sum((np.asarray(t, np.float64) ** 2).sum() for t in jax.tree.leaves(g)))
print(f"{name} first_ms {times[0]:.3f} median_ms {statistics.median(times[1:] or times):.3f} loss {float(l):.9e} gradient {norm:.9e} "
      f"grown {grown:.1f} live 0 compile {compiled:.0f}")
