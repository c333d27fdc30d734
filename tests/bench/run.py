#!/usr/bin/env python3
"""run.py [-r ROUNDS] [-t THREADS] [-p PEER …] [NAME …]: Replay and its peers at the workloads of this folder, in turn.

Every run is a process of its own; Replay and the peer alternate, so that what else the machine does meets both.
Checks that losses and gradient norms agree, and prints a table for each peer of medians over the rounds:
milliseconds of a step, its ratio (the median of the pairs'), of the first step, peak memory above the inputs'
(the resident set's, and live bytes where they are known), and a compiler's time.
Peers: torch (PEER_PYTHON, /usr/bin/python3), jax (JAX_PYTHON), adolc and hand (ADOLC, the compiled adolc_peer.cpp);
without -p, all that are there. MEMTRACK names the compiled memtrack.c, for PyTorch's live bytes, in a run of its
own. REPLAY is the program (build/replay); LD_LIBRARY_PATH may name the BLAS that PyTorch is to use. Beside PyTorch, the
matrix products of mlp, rnn and transformer are timed alone, and what the processor's multiply-adds allow (LIMIT,
the compiled limit.c).
"""
import argparse
import os
import re
import statistics
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
f32 = ("mlp", "rnn", "transformer", "chain", "nbody")
names = (*f32, "heat", "scalar", "tiny", "newton")
times_over = {"rnn": 1, "chain": 2, "heat": 2, "mlp": 3, "transformer": 3, "nbody": 2}

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("-r", "--rounds", type=int, default=3)
p.add_argument("-t", "--threads", type=int, default=2)
p.add_argument("-p", "--peer", action="append", choices=["torch", "jax", "adolc", "hand", "replay"],
               help="replay: Replay itself, with --flags")
p.add_argument("-f", "--flags", default="", help="further options of Replay; with the peer replay, of that one alone")
p.add_argument("names", nargs="*")
args = p.parse_args()
replay = os.environ.get("REPLAY", "build/replay")
python, jax_python = os.environ.get("PEER_PYTHON", "/usr/bin/python3"), os.environ.get("JAX_PYTHON", "")
adolc, memtrack, limit = os.environ.get("ADOLC", ""), os.environ.get("MEMTRACK", ""), os.environ.get("LIMIT", "")
peers = args.peer or ["torch", *(["jax"] if jax_python else []), *(["adolc", "hand"] if adolc else [])]


def run(cmd, env=None):
    r = subprocess.run(cmd, capture_output=True, text=True, env=env)
    found = re.search(r"first_ms .*", r.stdout)
    if not found:
        sys.exit(f"no figures from {' '.join(cmd)}:\n{r.stdout}{r.stderr}")
    words = found.group().split()
    return dict(zip(words[::2], map(float, words[1::2])))


def ours(name, flags):
    cmd = [replay, "--threads", str(args.threads), *flags.split(), *(["--float", "f32"] if name in f32 else [])]
    return run([*cmd, os.path.join(here, name + ".rl"), str(times_over.get(name, 5))])


def theirs(peer, name):
    steps = str(times_over.get(name, 5))
    if peer == "replay":
        return ours(name, args.flags)
    if peer in ("adolc", "hand"):
        return run([adolc, peer, steps])
    if peer == "jax":
        return run([jax_python, os.path.join(here, "jax_peer.py"), name, steps, str(args.threads)])
    env = dict(os.environ, OMP_NUM_THREADS=str(args.threads))
    return run([python, os.path.join(here, "torch_peer.py"), name, steps, str(args.threads)], env)


def torch_live(name):
    env = dict(os.environ, OMP_NUM_THREADS=str(args.threads), LD_PRELOAD=memtrack)
    return run([python, os.path.join(here, "torch_peer.py"), name, "0", str(args.threads)], env)["live"]


def near(x, y):
    return abs(x - y) <= 2e-3 * max(abs(x), abs(y)) + 1e-9


for peer in peers:
    chosen = [n for n in args.names or names if peer not in ("adolc", "hand") or n == "scalar"]
    if not chosen:
        continue
    print(f"\n| workload | Replay ms | {peer} ms | ratio | first / later: Replay | {peer} | live MiB: Replay | {peer} "
          f"| resident MiB: Replay | {peer} | {peer} compiles ms | agree |\n|" + "---|" * 12)
    for name in chosen:
        pairs = [(ours(name, "" if peer == "replay" else args.flags), theirs(peer, name)) for _ in range(args.rounds)]
        a, b = pairs[0]
        if peer == "torch" and memtrack:
            b["live"] = torch_live(name)

        def middle(f):
            return statistics.median(f(x, y) for x, y in pairs)
        same = (a["loss"], a["gradient"]) == (b["loss"], b["gradient"])
        agree = same if peer == "replay" else near(a["loss"], b["loss"]) and near(a["gradient"], b["gradient"])
        print(f"| {name} | {middle(lambda x, y: x['median_ms']):.1f} | {middle(lambda x, y: y['median_ms']):.1f} "
              f"| {middle(lambda x, y: x['median_ms'] / y['median_ms']):.3f} "
              f"| {middle(lambda x, y: x['first_ms'] / x['median_ms']):.2f} | {middle(lambda x, y: y['first_ms'] / y['median_ms']):.2f} "
              f"| {a['live']:.0f} | {b['live']:.0f} | {middle(lambda x, y: x['grown']):.0f} | {middle(lambda x, y: y['grown']):.0f} "
              f"| {b.get('compile', 0):.0f} | {'yes' if agree else 'NO ' + str((a, b))} |", flush=True)

# Multiply-adds of a step of each, doubled: products forward and their transposes.
operations = {"mlp": 64 * 3 * 2 * 512**3, "rnn": 1000 * 5 * 2 * 64 * 256**2,
              "transformer": 6 * 3 * 2 * (2048 * (4 * 256**2 + 2 * 256 * 1024) + 2 * 32 * 256**2 * 64)}
chosen = [n for n in args.names or names if n in operations]
if "torch" in peers and limit and chosen:
    print("\n| workload | Replay ms | its products alone ms | ratio | at the multiply-add limit ms | ratio |\n|" + "---|" * 6)
    for name in chosen:
        def products():
            return run([replay, "--threads", str(args.threads), "--float", "f32", os.path.join(here, "products.rl"), name, "5"])["median_ms"]

        def least():
            speed = float(subprocess.run([limit, str(args.threads)], capture_output=True, text=True, check=True).stdout)
            return operations[name] / speed / 1e6
        rounds = [(ours(name, args.flags)["median_ms"], products(), least()) for _ in range(args.rounds)]
        a, b, c = (statistics.median(x) for x in zip(*rounds))
        print(f"| {name} | {a:.1f} | {b:.1f} | {statistics.median(x / y for x, y, _ in rounds):.3f} | {c:.1f} "
              f"| {statistics.median(x / z for x, _, z in rounds):.3f} |", flush=True)
