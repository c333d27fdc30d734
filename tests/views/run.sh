#!/bin/sh
# run.sh: makes every picture for four programs and looks at what is in it: that the SVG is well formed where
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
    for suffix in svg json txt; do
        "$replay" adjoint "$name.rl" "$f" -o "$tmp/$name.adjoint.$suffix"
        ok $? "adjoint of $name as $suffix failed"
    done
    "$replay" graph "$name.rl" "$call" -o "$tmp/$name.graph.dot"
    ok $? "graph of $name as dot failed"
    "$replay" --stats=json "$name.rl" 2>"$tmp/$name.stats" >"$tmp/$name.out"
    # At the prompt the same pictures come out, to the last byte.
    for view in table graph saved memory schedule step; do echo ":$view $call -o $tmp/again.$view"; done |
        sed 's/\(.*\)again\.\(.*\)/\1again.\2.json/; 1s/^/:load '"$name.rl"'\n/' | "$replay" repl >"$tmp/out" 2>&1
    for view in table graph saved memory schedule step; do
        cmp -s "$tmp/again.$view.json" "$tmp/$name.$view.json"
        ok $? ":$view of $name is another picture: $(cat "$tmp/out")"
    done
    # An adjoint program twice: the names that the first picture gave are gone again.
    printf ':load %s.rl\n:adjoint %s -o %s\n:adjoint %s -o %s\n' "$name" "$f" "$tmp/first.json" "$f" "$tmp/second.json" | "$replay" repl >"$tmp/out" 2>&1
    cmp -s "$tmp/first.json" "$tmp/$name.adjoint.json" && cmp -s "$tmp/second.json" "$tmp/$name.adjoint.json"
    ok $? ":adjoint of $name is another picture: $(cat "$tmp/out")"
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
pictures mixed 'f(p, x)' f

kib() { awk "BEGIN { n = $1; if (n < 1024) printf \"%d bytes\", n; else printf \"%.1f KiB\", n / 1024 }"; }

# The whole program: its figures are those of a run, in the picture too.
for name in mlp steps scalar; do
    "$replay" memory "$name.rl" -o "$tmp/$name.whole.json" && "$replay" memory "$name.rl" -o "$tmp/$name.whole.svg"
    ok $? "memory of $name failed"
    written="as written" && [ $name = scalar ] && written="no blocks"
    for what in peak_bytes saved_peak_bytes step_runs steps; do
        want=$(figure "$tmp/$name.stats" $what)
        grep -q "$written.*\"$what\": $want," "$tmp/$name.whole.json"
        ok $? "memory of $name: $what is not $want"
    done
    has "$tmp/$name.whole.svg" "$written"
    has "$tmp/$name.whole.svg" "no blocks"
    has "$tmp/$name.whole.svg" "peak $(kib "$(figure "$tmp/$name.stats" peak_bytes)")   saved $(kib "$(figure "$tmp/$name.stats" saved_peak_bytes)")"
    runs=$(figure "$tmp/$name.stats" step_runs)
    [ "$runs" = 0 ] || has "$tmp/$name.whole.svg" "run $runs times"
done
has "$tmp/steps.whole.svg" "4 replays"
has "$tmp/mlp.memory.svg" "1 replay<"

# A loop without loops in it: the picture's steps are those of the run.
has "$tmp/scalar.schedule.svg" "$(figure "$tmp/scalar.stats" steps) steps; run $(figure "$tmp/scalar.stats" step_runs) times"
has "$tmp/mlp.schedule.svg" 'no loop ran under the gradient'

# Values and cotangents are the program's: its result, its gradient.
loss=$(awk '{ printf "%.6g", $1 }' "$tmp/mlp.out")
slope=$(awk '{ printf "%.6g", $1 }' "$tmp/scalar.out")
for view in table graph step; do
    has "$tmp/mlp.$view.svg" ">$loss<"
    has "$tmp/scalar.$view.svg" ">$slope<"
done
has "$tmp/scalar.step.json" "{\"program\": \"adjoint\", \"line\": 8, \"name\": \"a\", \"value\": \"$slope\"}"

# What is replayed is walked through: each of the 16 steps once more.
[ "$(grep -c '"program": "replay", "line": 4, "name": "h"' "$tmp/steps.step.json")" = 16 ]
ok $? "not 16 steps replayed in the walk through steps"
! grep -q '"forward".*"value": "[0-9]"' "$tmp/steps.step.json"
ok $? "the counter of a loop is a row"
has "$tmp/steps.step.svg" '>replay<'
has "$tmp/steps.step.svg" '· · ·'
has "$tmp/mlp.adjoint.json" '"adjoint": "REPLAY line 4", "replay": true}'
for words in 'r_adj.y += t_adj[0]' '_, t4 = back[inner(p, x)](r_adj)' 'p_adj.w += adj(p.w[0]) with [0] = 0' 'r_adj.z += v_adj[0]' \
    'for each round, last to first, with its i, u {' 'x_adj[::-1] += placed(' 'h_adj[1:] += spread(' 'h_adj = h_adj * 0.5'; do
    has "$tmp/mixed.adjoint.txt" "$words"
done
has "$tmp/mixed.table.txt" 'p.w[0]'
has "$tmp/mlp.adjoint.svg" '>REPLAY line 4<'
has "$tmp/mlp.adjoint.svg" '· keeps what enters: w1, x, w2'

# Looking at every value takes more than a budget that is just enough, and is let.
cat >"$tmp/tight.rl" <<'EOF'
fn f(x) { checkpoint (budget = 20KB) < for (i in 0..10) { x = sin(x) * cos(x) } >; sum(x) }
x = linspace(0, 1, 500)
g = grad(f)(x)
EOF
for view in table graph step schedule memory saved; do
    "$replay" $view "$tmp/tight.rl" 'f(x)' -o "$tmp/tight.$view.json" >"$tmp/out" 2>&1
    ok $? "$view under a tight budget failed: $(cat "$tmp/out")"
done
has "$tmp/tight.memory.json" '"as written"'
"$replay" memory mlp.rl --save=everything -o "$tmp/mlp.everything.json"
has "$tmp/mlp.everything.json" '"no blocks"'
"$replay" memory mlp.rl --save=dots -o "$tmp/mlp.dots.json"
has "$tmp/mlp.dots.json" '"save = \"dots\""'

# A block within a step holds the state before it until the step is reversed.
cat >"$tmp/within.rl" <<'EOF'
fn f(x) { for (i in 0..3) { checkpoint < y = tanh(x * x); x = sin(y) * y + x > }; sum(x) }
x = linspace(0, 1, 9)
EOF
"$replay" schedule "$tmp/within.rl" 'f(x)' -o "$tmp/within.txt"
printf '%s\n' 'store state before step 0' 'record step 0' 'store state before step 1' 'record step 1' 'store state before step 2' 'record step 2' \
    'restore state before step 2' 'reverse step 2' 'restore state before step 1' 'reverse step 1' 'restore state before step 0' 'reverse step 0' >"$tmp/want"
sed 's/  */ /g; $d' "$tmp/within.txt" | diff "$tmp/want" - >"$tmp/out"
ok $? "schedule of blocks within steps: $(cat "$tmp/out")"

# saved() says the same, and so does the picture of what is kept; each block avoids what it would keep without.
for f in 'mlp loss(w1, w2, w3, x)' 'steps run(w, h)' 'scalar both(2.0)'; do
    name=${f%% *} call=${f#* }
    want=$({ grep -v '^print' "$name.rl"; echo "print(saved(${call%%(*}, ${call#*(}.bytes)"; } | "$replay" -)
    has "$tmp/$name.saved.json" "\"bytes\": $want, \"given_bytes\""
    has "$tmp/$name.saved.svg" "kept $(kib "$want")"
done
has "$tmp/mlp.saved.json" '"saves": 1280}'
has "$tmp/mlp.saved.svg" 'replayed from w1, x, w2; without it 1280 bytes more'
has "$tmp/steps.saved.svg" '4 times: replayed from h, w; without it 2880 bytes more'

# What is kept: 60 of the block's result, 7 before the last sine, 7 after it.
has "$tmp/mlp.saved.json" '"bytes": 592, '
# Without its block 50 + 50 + 60 numbers more before the sines and between the layers.
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
