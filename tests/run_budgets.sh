#!/bin/sh
# run_budgets.sh: each program of tests/budgets without a budget and then with twenty, from its peak down:
# what it prints is the same, its arrays stay within the budget, the memory of the process within the budget and what does
# not depend on it, and a larger budget does not mean more repeated. Once a budget is refused, so are all smaller ones, or they succeed; the refusal names a line.
# Then a chain of equal steps under the peaks that slots have.
#
# In: REPLAY (the program, build/replay), BUDGETS (how many). Out: a line for each program, with the least
# fraction of its peak that was enough, and what was repeated there; then every failure.
set -u
replay=${REPLAY:-build/replay}
many=${BUDGETS:-20}
cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failed=0
fail() { failed=$((failed + 1)); echo "FAIL $*"; }
field() { sed -n "s/^{.*\"$1\": \([0-9]*\).*/\1/p" "$2" | tail -1; }

# What the process takes at most, in bytes, comes after what the program prints.
resident='print(read_text("/proc/self/status"))'
most_resident() { awk '/^VmHWM:/ { print $2 * 1024 }' "$1"; }
echo "$resident" | "$replay" - >"$tmp/out" || fail "/proc/self/status"
alone=$(most_resident "$tmp/out")
# With checks compiled in (sanitizers) memory is another's matter.
[ "${alone:-0}" -le 33554432 ] || alone=0
FIXED=12582912 # beyond what a program of one line takes: Code, frames, packed parts of matrices, stacks of threads

for file in ${*:-tests/budgets/*.rl}; do
    above=0
    "$replay" --stats=json "$file" >"$tmp/want" 2>"$tmp/stats" || { fail "$file without a budget"; continue; }
    peak=$(field peak_bytes "$tmp/stats") before=-1 before_budget=0 least=$peak cost=0 k=0
    while [ $k -lt "$many" ]; do
        budget=$(awk "BEGIN { printf \"%d\", $peak * 0.02 ^ ($k / ($many - 1)) }")
        { cat "$file"; echo "$resident"; } | timeout 120 "$replay" --budget "$budget" --stats=json - >"$tmp/all" 2>"$tmp/stats"
        status=$?
        k=$((k + 1))
        if [ $status -ne 0 ]; then
            grep -q '^error\[budget\]' "$tmp/stats" && grep -q -- '-->' "$tmp/stats" && continue
            fail "$file at $budget: status $status"; head -5 "$tmp/stats"; continue
        fi
        sed '/^Name:/,$d' "$tmp/all" >"$tmp/out"
        cmp -s "$tmp/want" "$tmp/out" || fail "$file at $budget: prints something else"
        took=$(most_resident "$tmp/all")
        [ $((took - budget)) -le $above ] || above=$((took - budget))
        [ "$alone" -eq 0 ] || [ "$took" -le $((budget + alone + FIXED)) ] || fail "$file at $budget: $took bytes resident, a line alone $alone"
        high=$(field peak_bytes "$tmp/stats") again=$(field rerun_ops "$tmp/stats")
        [ "$high" -le "$budget" ] || fail "$file at $budget: peak $high"
        # Budgets here are apart by more than a quarter of a factor of two.
        [ "$before" -ge 0 ] && [ "$again" -lt $((before * 95 / 100)) ] && fail "$file: $before repeated at $before_budget, $again at $budget"
        before=$again before_budget=$budget least=$budget cost=$again
    done
    printf '%-12s peak %10d, least %10d (%.3f), repeated there %d; resident at most the budget and %d\n' "$(basename "$file" .rl)" "$peak" "$least" "$(awk "BEGIN { print $least / $peak }")" "$cost" "$above"
done

# At the peak that a loop of 1000 equal steps has with s slots, a budget repeats no more than they do.
chain() { printf 'x0 = sin((0..2000) * 0.1)\nfn f(x) { %s for (i in 0..1000) { x = sin(x) * 1.1 } %s; sum(x) }\nprint(sum(grad(f)(x0)))\n' "$1" "$2"; }
for s in 2 3 4 5 6 7 8 9 10 12 16 24 40; do
    chain "checkpoint (slots = $s) <" ">" | "$replay" --stats=json - >"$tmp/want" 2>"$tmp/stats"
    peak=$(field peak_bytes "$tmp/stats") runs=$(field step_runs "$tmp/stats")
    chain "" "" | "$replay" --budget "$peak" --stats=json - >"$tmp/out" 2>"$tmp/stats" || fail "the chain is refused at the peak of $s slots"
    cmp -s "$tmp/want" "$tmp/out" || fail "the chain at the peak of $s slots: prints something else"
    ours=$(field step_runs "$tmp/stats")
    [ "$ours" -le $((runs + runs / 100)) ] || fail "the chain at the peak of $s slots: $ours steps, not $runs"
done
[ $failed = 0 ]
