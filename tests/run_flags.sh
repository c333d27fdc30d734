#!/bin/sh
# run_flags.sh [FILE …]: every case and example under each switch of the engine and on one and two threads: what
# it prints is the same to the last character. Cases that look at the run's own cost or ask for a command are
# left out. In: REPLAY (the program, build/replay). Out: a line for each difference.
set -u
replay=$(realpath "${REPLAY:-build/replay}")
cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
same=0 differ=0
# What a block was worth depends on what the optimiser leaves to it.
told() { awk '/^(error|warning)/ { skip = /^warning\[checkpoint\]/ } !skip' "$1"; }
[ $# -gt 0 ] || set -- $(find tests/cases -name '*.rl' | sort) examples/*.rl
for file; do
    if grep -qE '^# (repl|skip|options: *check)|measure\(|saved\(|time\(\)|_peak|progress|env\(|--(limit|budget)' "$file"; then continue; fi
    options=$(sed -n 's/^# options: *//p' "$file" | head -1) args=$(sed -n 's/^# args: *//p' "$file" | head -1)
    # shellcheck disable=SC2086
    NO_COLOR=1 "$replay" --threads 2 $options "$file" $args >"$tmp/first" 2>"$tmp/errors" </dev/null
    for flags in --no-fuse --no-pool --no-optimise '--threads 1'; do
        # shellcheck disable=SC2086
        NO_COLOR=1 "$replay" --threads 2 $options $flags "$file" $args >"$tmp/other" 2>"$tmp/other_errors" </dev/null
        if cmp -s "$tmp/first" "$tmp/other" && [ "$(told "$tmp/errors")" = "$(told "$tmp/other_errors")" ]; then same=$((same + 1))
        else
            differ=$((differ + 1))
            echo "$file differs under $flags:"
            diff "$tmp/first" "$tmp/other" | head -4
            diff "$tmp/errors" "$tmp/other_errors" | head -4
        fi
    done
done
echo "flags: $same runs the same, $differ not"
[ $differ = 0 ]
