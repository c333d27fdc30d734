#!/usr/bin/env python3
"""run.py [-r ROUNDS] [-t THREADS] [NAME …]: Replay and PyTorch at the workloads of this folder, in turn.

Every run is a process of its own; Replay and the peer alternate, so that what else the machine does meets both.
Checks that losses and gradient norms agree, and prints a table of medians over the rounds: milliseconds of a
step, its ratio (the median of the pairs'), of the first step, peak memory. PEER_PYTHON has torch (/usr/bin/python3);
REPLAY is the program (build/replay); LD_LIBRARY_PATH may name the BLAS that PyTorch is to use.
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
slow_first = {"rnn": 1, "chain": 2, "heat": 2, "mlp": 3, "transformer": 3, "nbody": 2}

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("-r", "--rounds", type=int, default=3)
p.add_argument("-t", "--threads", type=int, default=2)
p.add_argument("-f", "--flags", default="", help="further options of Replay; with --against, of the second program")
p.add_argument("--against", action="store_true", help="the peer is Replay itself with --flags")
p.add_argument("names", nargs="*")
args = p.parse_args()
replay = os.environ.get("REPLAY", "build/replay")
python = os.environ.get("PEER_PYTHON", "/usr/bin/python3")


def parsed(text, extra=""):
    found = re.search(r"first_ms (\S+) median_ms (\S+) loss (\S+) gradient (\S+)(?: peak (\S+))?", text)
    if not found:
        sys.exit(f"no figures in:\n{text}{extra}")
    first, median, loss, norm, peak = found.groups()
    return {"first": float(first), "ms": float(median), "loss": float(loss), "norm": float(norm), "peak": float(peak or 0)}


def ours(name, flags):
    steps = str(slow_first.get(name, 5))
    cmd = [replay, "--stats=json", "--threads", str(args.threads), *flags.split()]
    if name in f32:
        cmd += ["--float", "f32"]
    r = subprocess.run([*cmd, os.path.join(here, name + ".rl"), steps], capture_output=True, text=True)
    out = parsed(r.stdout, r.stderr)
    found = re.search(r'"saved_peak_bytes": ?(\d+)', r.stderr)
    out["peak"] = int(found.group(1)) / 2**20 if found else 0
    return out


def theirs(name):
    env = dict(os.environ, OMP_NUM_THREADS=str(args.threads))
    r = subprocess.run([python, os.path.join(here, "torch_peer.py"), name, str(slow_first.get(name, 5)), str(args.threads)],
                       capture_output=True, text=True, env=env)
    return parsed(r.stdout, r.stderr)


print("| workload | Replay ms | peer ms | ratio | Replay first / later | peer first / later | saved / peer's growth MiB | agree |")
print("|---|---|---|---|---|---|---|---|")
for name in args.names or names:
    pairs = [(ours(name, "" if args.against else args.flags), ours(name, args.flags) if args.against else theirs(name)) for _ in range(args.rounds)]
    middle = lambda f: statistics.median(f(a, b) for a, b in pairs)
    a, b = pairs[0]
    near = lambda x, y: abs(x - y) <= 2e-3 * max(abs(x), abs(y)) + 1e-9
    agree = (a["loss"], a["norm"]) == (b["loss"], b["norm"]) if args.against else near(a["loss"], b["loss"]) and near(a["norm"], b["norm"])
    print(f"| {name} | {middle(lambda a, b: a['ms']):.1f} | {middle(lambda a, b: b['ms']):.1f} | {middle(lambda a, b: a['ms'] / b['ms']):.3f} "
          f"| {middle(lambda a, b: a['first'] / a['ms']):.2f} | {middle(lambda a, b: b['first'] / b['ms']):.2f} "
          f"| {middle(lambda a, b: a['peak']):.0f} / {middle(lambda a, b: b['peak']):.0f} | {'yes' if agree else 'NO ' + str((a, b))} |", flush=True)
