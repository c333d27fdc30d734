#!/bin/sh
# run.sh [--write]: lists the adjoint program of the first function in each .rl here and compares it with the .txt
# beside it; --write puts the listings there instead. In: REPLAY (the program, build/replay).
set -u
replay=$(realpath "${REPLAY:-build/replay}")
cd "$(dirname "$0")" || exit 1
passed=0 failed=0
for file in *.rl; do
    function=$(sed -n 's/^fn \([a-z]*\)(.*/\1/p' "$file" | head -1)
    listing=${file%.rl}.txt
    if [ "${1:-}" = --write ]; then
        "$replay" adjoint "$file" "$function" >"$listing" || exit 1
    elif "$replay" adjoint "$file" "$function" | diff -u "$listing" -; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$file: the listing differs; if it is better so: tests/golden/run.sh --write"
    fi
done
echo "golden: $passed listings as they were, $failed not"
[ $failed = 0 ]
