#!/bin/sh
# run_yardstick.sh: budgets against a search through all schedules, on small chains of calls with uneven sizes
# and costs.
#
# A schedule of a chain is a nest of checkpoint blocks: a block around the first k steps, itself arranged in
# any way, and then the rest, arranged in any way. So the search writes every nest there is and runs it: that
# gives its peak and what it executes, by the same machinery. Then the chain as it stands is run under each
# peak that some nest reaches. What is printed then says how many of these peaks were refused, and how much more than
# the best nest with no larger a peak was executed, at most; what it has to print is the same as without.
#
# In: REPLAY (build/replay), CHAINS (how many, 4), STEPS (5; with 7 there are 1806 nests to a chain), SEED.
set -u
replay=${REPLAY:-build/replay}
chains=${CHAINS:-4} steps=${STEPS:-5} seed=${SEED:-1}
cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failed=0
fail() { failed=$((failed + 1)); echo "FAIL $*"; }
field() { sed -n "s/^{.*\"$1\": \([0-9]*\).*/\1/p" "$2" | tail -1; }

chain=0
while [ $chain -lt "$chains" ]; do
    chain=$((chain + 1))
    # Sizes of 1000 to 8000 numbers, one to four sines to a step. Nest 0 is no block.
    awk -v n="$steps" -v seed=$((seed * 1000 + chain)) -v to="$tmp/nest" '
        # All arrangements of steps i to j, separated by |. A block around the last ones would save nothing.
        function nests(i, j,   out, k, a, b, x, y, p, q) {
            if (j - i == 1) return "x = s" i "(x); "
            q = split(nests(i + 1, j), y, "|")
            for (b = 1; b <= q; b++) out = out (b > 1 ? "|" : "") "x = s" i "(x); " y[b]
            for (k = i + 1; k < j; k++) {
                p = split(nests(i, k), x, "|")
                q = split(nests(k, j), y, "|")
                for (a = 1; a <= p; a++)
                    for (b = 1; b <= q; b++) out = out "|checkpoint < " x[a] ">; " y[b]
            }
            return out
        }
        BEGIN {
            srand(seed)
            head = "x0 = sin((0..4000) * 0.1)\n"
            size = 4000
            for (i = 0; i < n; i++) {
                next_size = 1000 * (1 + int(8 * rand()))
                head = head "i" i " = (0.." next_size ") % " size "\nfn s" i "(x) { x = sin(x[i" i "])"
                for (c = int(4 * rand()); c > 0; c--) head = head "; x = sin(x * 1.1)"
                head = head "; x }\n"
                size = next_size
            }
            m = split(nests(0, n), of, "|")
            for (k = 1; k <= m; k++) {
                file = to "." (k - 1) ".rl"
                printf "%sfn f(x) { %s sum(x) }\ng = grad(f)(x0)\nprint(sum(g), max(g), g[17])\n", head, of[k] > file
                close(file)
            }
            print m
        }' >"$tmp/many"
    many=$(cat "$tmp/many")
    : >"$tmp/table"
    k=0
    while [ $k -lt "$many" ]; do
        "$replay" --stats=json "$tmp/nest.$k.rl" >"$tmp/out" 2>"$tmp/stats" || fail "chain $chain, nest $k: $(head -1 "$tmp/stats")"
        [ $k -gt 0 ] || cp "$tmp/out" "$tmp/want"
        cmp -s "$tmp/want" "$tmp/out" || fail "chain $chain, nest $k: prints something else"
        echo "$(field peak_bytes "$tmp/stats") $(field rerun_ops "$tmp/stats") $k" >>"$tmp/table"
        k=$((k + 1))
    done
    # The best for each peak: peaks ascending, as long as fewer operations are repeated.
    sort -k1,1n -k2,2n "$tmp/table" | awk 'best == "" || $2 < best { best = $2; print }' >"$tmp/best"
    worst=0 refused=0 plain=$(awk '$3 == 0 { print $1 }' "$tmp/table")
    # What one execution takes: a block around the whole chain repeats just that.
    sed 's/fn f(x) {\(.*\) sum(x) }/fn f(x) { checkpoint < \1 >; sum(x) }/' "$tmp/nest.0.rl" >"$tmp/once.rl"
    "$replay" --stats=json "$tmp/once.rl" >/dev/null 2>"$tmp/stats"
    once=$(field rerun_ops "$tmp/stats")
    while read -r peak again nest; do
        if ! "$replay" --budget "$peak" --stats=json "$tmp/nest.0.rl" >"$tmp/out" 2>"$tmp/stats"; then
            refused=$((refused + 1))
            continue
        fi
        cmp -s "$tmp/want" "$tmp/out" || fail "chain $chain at $peak: prints something else"
        ours=$(field rerun_ops "$tmp/stats")
        ratio=$(awk "BEGIN { print ($once + $ours) / ($once + $again) }")
        worst=$(awk "BEGIN { print ($ratio > $worst) ? $ratio : $worst }")
    done <"$tmp/best"
    echo "chain $chain: $many nests, $(wc -l <"$tmp/best") peaks from $(head -1 "$tmp/best" | cut -d' ' -f1) to $plain, $refused of them refused, else at most $worst of the best"
done
[ $failed = 0 ]
