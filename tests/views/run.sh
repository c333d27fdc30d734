#!/bin/sh
# run.sh: makes every picture for three programs and looks at what is in it: that the SVG is well formed where
# a reader is installed, that its figures are those of `--stats=json` and of saved(), that nothing fails.
# In: REPLAY (build/replay).
set -u
replay=$(realpath "${REPLAY:-build/replay}")
cd "$(dirname "$0")" || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
ok() { if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "views: $2"; fi; }
has() { grep -qF -- "$2" "$1"; ok $? "$(basename "$1") does not say: $2"; }

pictures() {
    name=$1 call=$2 f=$3
    for view in table graph saved memory schedule step; do
        for suffix in svg json txt; do
            "$replay" $view "$name.rl" "$call" -o "$tmp/$name.$view.$suffix" >"$tmp/out" 2>&1 && [ -s "$tmp/$name.$view.$suffix" ]
            ok $? "$view of $name as $suffix failed: $(cat "$tmp/out")"
        done
    done
    "$replay" graph "$name.rl" "$call" -o "$tmp/$name.graph.dot" && "$replay" adjoint "$name.rl" "$f" -o "$tmp/$name.adjoint.svg"
    ok $? "graph or adjoint of $name failed"
    for svg in "$tmp/$name".*.svg; do
        [ "$(grep -c '^</svg>$' "$svg")" = 1 ] && ! grep -q 'nan\|inf,' "$svg"
        ok $? "$svg is not a whole picture"
        if command -v xmllint >/dev/null; then xmllint --noout "$svg"; ok $? "$svg is not well formed"; fi
    done
}
# The figure called $2 in the first line of JSON in file $1.
figure() { sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" "$1" | head -1; }

pictures mlp 'loss(w1, w2, w3, x)' loss
pictures steps 'run(w, h)' run
pictures scalar 'both(2.0)' both

# The whole program: its peak is that of a run.
for name in mlp steps; do
    "$replay" --stats=json "$name.rl" 2>"$tmp/stats" >/dev/null
    "$replay" memory "$name.rl" -o "$tmp/$name.whole.json" && "$replay" memory "$name.rl" -o "$tmp/$name.whole.svg"
    peak=$(figure "$tmp/stats" peak_bytes)
    grep -q "as written.*\"peak_bytes\": $peak," "$tmp/$name.whole.json"
    ok $? "memory of $name: no peak of $peak bytes"
    runs=$(figure "$tmp/stats" step_runs)
    grep -q "as written.*\"step_runs\": $runs," "$tmp/$name.whole.json"
    ok $? "memory of $name: not $runs runs of steps"
    has "$tmp/$name.whole.svg" "as written"
    has "$tmp/$name.whole.svg" "no blocks"
done
kib=$(awk "BEGIN { printf \"%.1f KiB\", $(sed -n 's/.*"as written", "peak_bytes": \([0-9]*\).*/\1/p' "$tmp/mlp.whole.json") / 1024 }")
has "$tmp/mlp.whole.svg" "peak $kib"

# What is kept: 60 of the block's result, 7 before the last sine, 7 after it.
has "$tmp/mlp.saved.json" '"bytes": 592, '
# Without its block 50 + 50 + 60 numbers more before the sines and between the layers.
has "$tmp/mlp.saved.json" '"saves": 1280}'
has "$tmp/mlp.saved.txt" 'without it 1280 bytes more'
has "$tmp/mlp.saved.svg" 'enters the block of line 4'
has "$tmp/mlp.table.txt" 'layer(w3, x)'
has "$tmp/mlp.graph.dot" 'label="checkpoint"'
has "$tmp/steps.schedule.json" '["advance", 15]'
has "$tmp/steps.schedule.json" '["replay", 15], ["reverse", 15], ["reverse", 14]'
has "$tmp/steps.schedule.svg" '16 steps; run 32 times, 16 of them in replays'
has "$tmp/scalar.step.txt" 'adjoint'
"$replay" saved mlp.rl 'loss(w1, w2, w3, x)' --save=everything -o "$tmp/all.json"
[ "$(figure "$tmp/all.json" without_blocks)" = "$(sed -n 's/^"bytes": \([0-9]*\).*/\1/p; s/^\], *//p; s/.*"bytes": \([0-9]*\), "given.*/\1/p' "$tmp/all.json" | tail -1)" ]
ok $? "saving everything keeps what no blocks keep"

echo "views: $passed passed, $failed failed"
[ $failed = 0 ]
