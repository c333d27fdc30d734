#!/usr/bin/env python3
"""more.py [-r ROUNDS]: what run.py does not compare: Replay against itself. Run as make bench-more.

The price of a checkpoint (a block around each layer or step, none, and save = "dots"), time per step as steps
grow under slots and layers without, per element as arrays grow beside a copy's, and one thread against two.
Each line alternates what it compares; ratios are medians of pairs.
"""
import argparse
import math
import os
import re
import statistics
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("-r", "--rounds", type=int, default=3)
args = p.parse_args()
replay = os.environ.get("REPLAY", "build/replay")


def step(name, *words, threads=2, f32=True):
    """Median milliseconds of a step, and live MiB."""
    cmd = [replay, "--threads", str(threads), *(["--float", "f32"] if f32 else []), os.path.join(here, name + ".rl"), *map(str, words)]
    r = subprocess.run(cmd, capture_output=True, text=True)
    found = re.search(r"median_ms (\S+) .* live (\S+)", r.stdout)
    if not found:
        sys.exit(f"no figures from {' '.join(cmd)}:\n{r.stdout}{r.stderr}")
    return float(found.group(1)), float(found.group(2))


def ratio(a, b):
    """(milliseconds, live) of a and of b, and the median of the pairs' ratios of milliseconds."""
    pairs = [(a(), b()) for _ in range(args.rounds)]
    return pairs[0][0], pairs[0][1], statistics.median(x[0] / y[0] for x, y in pairs)


print("| a block around each | over none | wanted | live MiB with, without |\n|---|---|---|---|")
for name, words in (("mlp", (2, 64, 512)), ("rnn", (1,)), ("mlp", (2, 16, 4096))):
    for mode, wanted in (("block", 1.36), ("dots", 1.1)):
        a, b, r = ratio(lambda: step(name, *words, mode), lambda: step(name, *words, "plain"))
        print(f"| {name} {' '.join(map(str, words[1:]))} {mode} | {r:.2f} | {wanted} | {a[1]:.0f}, {b[1]:.0f} |", flush=True)

def executions(n, slots):
    """Steps that Revolve runs for n of them, the primal's own among them: t(n, slots) + n + 1."""
    r = 0
    while math.comb(slots + r, slots) < n:
        r += 1
    return r * n - math.comb(slots + r, r - 1) + n + 1


print("\n| steps of the pendulum under 20 slots | microseconds a step | an executed step |\n|---|---|---|")
for n in (1000, 10_000, 100_000, 1_000_000):
    ms = statistics.median(step("slots", 3 if n < 1_000_000 else 1, n, f32=False)[0] for _ in range(args.rounds))
    print(f"| {n} | {1000 * ms / n:.3f} | {1000 * ms / executions(n, 20):.4f} |", flush=True)

print("\n| layers of 32 by 32, batch 32 | microseconds a layer |\n|---|---|")
for n in (10, 100, 1000, 10_000):
    ms = statistics.median(step("layers", 5, n, f32=False)[0] for _ in range(args.rounds))
    print(f"| {n} | {1000 * ms / n:.2f} |", flush=True)

print("\n| elements | nanoseconds an element of the chain's step, of a copy | |\n|---|---|---|")
for n in (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000):
    a, b, r = ratio(lambda: step("elements", 3, n, "step"), lambda: step("elements", 3, n, "copy"))
    print(f"| {n} | {1e6 * a[0] / n:.3f}, {1e6 * b[0] / n:.3f} | {r:.2f} |", flush=True)

print("\n| two threads over one | | wanted at most 0.59 |\n|---|---|---|")
for name in ("mlp", "chain", "nbody"):
    a, b, r = ratio(lambda: step(name, 2, threads=2), lambda: step(name, 2, threads=1))
    print(f"| {name} | {r:.2f} | |", flush=True)
