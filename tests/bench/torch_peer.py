"""torch_peer.py NAME STEPS THREADS [MODE]: a workload of this folder as idiomatic PyTorch, eager; one line as measure.rl's.

Inputs are those of the .rl file of that name; `grown` is what the resident set grew by, in MiB; `live`, when
memtrack.so is preloaded, live heap bytes above the inputs'. MODE: for mlp "wide" (16 layers, batch 4096) or
"wide-block", with every layer checkpointed.
"""
import ctypes
import resource
import statistics
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

name, steps, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
mode = sys.argv[4] if len(sys.argv) > 4 else ""
double = name in ("heat", "scalar", "tiny", "newton")
dtype = torch.float64 if double else torch.float32
torch.set_default_dtype(dtype)
torch.set_num_threads(threads)
a = torch.randn(64, 64, requires_grad=True)  # starts every lazy part
(torch.tanh(a @ a) + torch.exp(-a * a)).sum().backward()


def noise(k, *shape):
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    u = (i * i * 12345 + i * 2654435 + 97 * k + 1) % 2147483647 / 2147483647.0
    return torch.from_numpy(((u - 0.5) * np.sqrt(12.0)).reshape(shape)).to(dtype)


def leaf(t):
    return t.clone().requires_grad_()


def mlp():
    layers, batch = (16, 4096) if mode.startswith("wide") else (64, 512)
    x, y = noise(1, batch, 512), noise(2, batch, 512)
    W = [leaf(noise(10 + i, 512, 512) / 512**0.5) for i in range(layers)]
    b = [leaf(torch.zeros(512)) for _ in W]

    def layer(h, w, c):
        return torch.tanh(torch.addmm(c, h, w))

    def loss():
        h = x
        for w, c in zip(W, b):
            h = checkpoint(layer, h, w, c, use_reentrant=False) if mode.endswith("block") else layer(h, w, c)
        return ((h - y) ** 2).mean()
    return loss, W + b


def rnn():
    n = 256
    xs, y = noise(1, 1000, 64, n), noise(2, 64, n)
    wx, wh, b = leaf(noise(3, n, n) * (0.5 / n**0.5)), leaf(noise(4, n, n) * (1.4 / n**0.5)), leaf(torch.zeros(n))

    def loss():
        h = torch.zeros(64, n)
        for t in range(1000):
            h = torch.tanh(xs[t] @ wx + h @ wh + b)
        return ((h - y) ** 2).mean()
    return loss, [wx, wh, b]


def transformer():
    d, S, B, H = 256, 256, 8, 4
    x, y = noise(1, B, S, d), noise(2, B, S, d)
    layers = []
    for i in range(6):
        def dense(k, rows, cols):
            return leaf(noise(10 + 10 * i + k, rows, cols) / rows**0.5), leaf(torch.zeros(cols))
        layers.append([leaf(torch.ones(d)), leaf(torch.zeros(d)), *dense(0, d, d), *dense(1, d, d), *dense(2, d, d), *dense(3, d, d),
                       leaf(torch.ones(d)), leaf(torch.zeros(d)), *dense(4, d, 4 * d), *dense(5, 4 * d, d)])

    def heads(t):
        return t.view(B, S, H, d // H).transpose(1, 2)

    def loss():
        h = x
        for g1, b1, q, qb, k, kb, v, vb, o, ob, g2, b2, u, ub, w, wb in layers:
            z = F.layer_norm(h, (d,), g1, b1)
            s = torch.softmax(heads(z @ q + qb) @ heads(z @ k + kb).transpose(-1, -2) / (d // H) ** 0.5, dim=-1)
            h = h + (s @ heads(z @ v + vb)).transpose(1, 2).reshape(B, S, d) @ o + ob
            z = F.layer_norm(h, (d,), g2, b2)
            h = h + F.gelu(z @ u + ub, approximate="tanh") @ w + wb
        return ((h - y) ** 2).mean()
    return loss, [t for l in layers for t in l]


def chain():
    x = leaf(noise(1, 1_000_000))

    def loss():
        y = x
        for _ in range(100):
            y = torch.sin(y) * 0.9 + torch.exp(-y * y) * 0.1
        return y.sum()
    return loss, [x]


def heat():
    n = 1000
    g = torch.linspace(0, 1, n)
    u0 = leaf(torch.sin(3 * g) + g)

    def loss():
        u = u0
        for _ in range(10_000):
            u = u + 0.25 * F.pad(u[2:] - 2 * u[1:-1] + u[:-2], (1, 1))
        return (u * u).sum()
    return loss, [u0]


def nbody():
    n = 256
    q0, v0, mass = leaf(noise(1, n, 3)), noise(2, n, 3) * 0.1, torch.ones(n) / n

    def accel(q):
        d = q[None, :, :] - q[:, None, :]
        r2 = (d * d).sum(-1) + 0.01
        return (d * (mass * r2**-1.5)[:, :, None]).sum(1)

    def loss():
        q, v, a = q0, v0, accel(q0)
        for _ in range(200):
            v = v + a * 0.005
            q = q + v * 0.01
            a = accel(q)
            v = v + a * 0.005
        return (q * q).sum()
    return loss, [q0]


def scalar():
    p = [leaf(torch.tensor(v)) for v in (1.0, 0.0, 0.01)]

    def loss():
        th, om, c = p
        for _ in range(10_000):
            om = om - (torch.sin(th) + c * om) * 1e-3
            th = th + om * 1e-3
        return th * th
    return loss, p


def run_tiny():
    x = noise(1, 32, 2)
    y = x[:, 0:1] * x[:, 1:2]
    w1, b1, w2, b2 = p = [leaf(noise(2, 2, 16)), leaf(torch.zeros(16)), leaf(noise(3, 16, 1) / 4), leaf(torch.zeros(1))]
    for _ in range(5000):
        loss = ((torch.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2).mean()
        g = torch.autograd.grad(loss, p)
        with torch.no_grad():
            for t, d in zip(p, g):
                t -= 0.05 * d
    return float(loss), float((w1 * w1).sum().sqrt())


def run_newton():
    x = noise(1, 500, 50)
    y = (x @ noise(2, 50) + noise(3, 500) > 0).to(dtype)

    def loss(w):
        return F.binary_cross_entropy_with_logits(x @ w, y) + 0.01 * (w * w).sum()
    w = torch.zeros(50)
    for _ in range(10):
        H = torch.autograd.functional.hessian(loss, w)
        g = torch.autograd.functional.jacobian(loss, w)
        w = w - torch.linalg.solve(H, g)
    return float(loss(w)), float((w * w).sum().sqrt())


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize() / 2**20


class Heap:
    """Live heap bytes, when memtrack.so is preloaded."""

    def __init__(self):
        self.lib = ctypes.CDLL(None)
        self.on = hasattr(self.lib, "memtrack_peak")
        if self.on:
            self.lib.memtrack_live.restype = self.lib.memtrack_peak.restype = ctypes.c_long
            self.lib.memtrack_reset()
            self.base = self.lib.memtrack_live()

    def grown(self):
        return (self.lib.memtrack_peak() - self.base) / 2**20 if self.on else 0


times = []
if name in ("tiny", "newton"):
    run = run_tiny if name == "tiny" else run_newton
    before, heap = resident(), Heap()
    for k in range(steps + 1):
        t = time.perf_counter()
        l, norm = run()
        times.append(1e3 * (time.perf_counter() - t))
else:
    loss, params = globals()[name]()
    before, heap = resident(), Heap()
    for k in range(steps + 1):
        for p in params:
            p.grad = None
        t = time.perf_counter()
        out = loss()
        out.backward()
        l = float(out)
        times.append(1e3 * (time.perf_counter() - t))
    norm = float(torch.sqrt(sum((p.grad.double() ** 2).sum() for p in params)))
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before
print(f"{name} first_ms {times[0]:.3f} median_ms {statistics.median(times[1:] or times):.3f} loss {l:.9e} gradient {norm:.9e} "
      f"grown {grown:.1f} live {heap.grown():.1f}")
