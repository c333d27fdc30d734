#!/bin/sh
# run.sh: results compared with those of NumPy and PyTorch: with the stored ones, and where Debian's python3-numpy and
# python3-torch are installed with theirs, on files that both write, too. In: REPLAY (the program, build/replay).
set -u
replay=${REPLAY:-build/replay}
cd "$(dirname "$0")/../.." || exit 1
suites='elementwise reduce shapes linear gradients special making'
for s in $suites; do "$replay" "tests/numpy/$s.rl" || exit 1; done
REPLAY=$replay tests/numpy/covered.sh || exit 1
python=/usr/bin/python3
if "$python" -c 'import numpy' 2>/dev/null; then
    tmp=$(mktemp -d) || exit 1
    trap 'rm -rf "$tmp"' EXIT
    "$python" tests/numpy/files.py "$replay" "$tmp" || exit 1
    "$python" -c 'import torch' 2>/dev/null || exit 0
    "$python" tests/numpy/generate.py "$tmp" >/dev/null || exit 1
    cp tests/numpy/compare.rl "$tmp"
    for s in $suites; do "$replay" "$tmp/$s.rl" >"$tmp/out" || { echo "with the NumPy installed:"; cat "$tmp/out"; exit 1; }; done
    echo "numpy: the same with the NumPy and PyTorch installed"
fi
