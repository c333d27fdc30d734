#!/usr/bin/env python3
"""Files between NumPy and Replay, both ways. In: the program, a folder to write to, NumPy. Exit status 1 when one differs."""
import os
import subprocess
import sys
import numpy as np

replay, folder = sys.argv[1], sys.argv[2]


def run(code):
    done = subprocess.run([replay, "-e", code], capture_output=True, text=True)
    if done.returncode: sys.exit(code + "\n" + done.stderr)
    return done.stdout.split("\n")[:-1]


def at(name): return os.path.join(folder, name)


a = np.arange(12.0).reshape(3, 4) - 2.5
count = 0
# What NumPy writes: every dtype that has a counterpart, both orders of bytes and of axes, every version.
for dtype in ("f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 ?").split():
    for order in "<>":
        for layout in (np.ascontiguousarray, np.asfortranarray, lambda x: x[::2, ::-1], lambda x: x[0], lambda x: x[1, 2], lambda x: x[:0]):
            x = np.asarray(layout(np.abs(a) if dtype[0] in "u?" else a)).astype(np.dtype(dtype).newbyteorder(order))
            for version in ((1, 0), (2, 0), (3, 0)):
                with open(at("a.npy"), "wb") as f: np.lib.format.write_array(f, x, version=version)
                np.savez(at("a.npz"), x=x), np.savez_compressed(at("b.npz"), x=x)
                want = "f32" if dtype in ("f2", "f4") else "f64" if dtype == "f8" else "bool" if dtype == "?" else "i64"
                if version[0] > 1 and layout is not np.asfortranarray: continue
                lines = run('x = load("%s"); print(dtype(x), i64(shape(x))); print(same(x, load("%s").x), same(x, load("%s").x)); save("%s", x)' % (at("a.npy"), at("a.npz"), at("b.npz"), at("back.npy")))
                back = np.load(at("back.npy"))
                if lines[0].split()[0] != want or lines[1] != "true true" or back.shape != x.shape or not np.array_equal(back.astype(x.dtype), x):
                    sys.exit("%s%s, version %s: %s" % (order, dtype, version, lines))
                count += 1
# What Replay writes, nested and in text.
run('save("%s", {w: [[1.5, 2]], layers: ({b: 0..3}, {b: f32([0.1])}), on: [true, false], s: 2.5}); save("%s", [[1.5, nan], [-2, inf]])' % (at("c.npz"), at("c.csv")))
z = np.load(at("c.npz"))
for name, want in (("w", np.array([[1.5, 2]])), ("layers.0.b", np.arange(3)), ("layers.1.b", np.array([0.1], dtype=np.float32)), ("on", np.array([True, False])), ("s", np.array(2.5))):
    if z[name].dtype != want.dtype or z[name].shape != want.shape or not np.array_equal(z[name], want): sys.exit("c.npz: " + name)
    count += 1
if not np.array_equal(np.genfromtxt(at("c.csv"), delimiter=","), np.array([[1.5, np.nan], [-2, np.inf]]), equal_nan=True): sys.exit("c.csv differs")
print("numpy: %d files went between NumPy and Replay" % (count + 1))
