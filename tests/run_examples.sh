#!/bin/sh
# run_examples.sh [FILE.rl …]: runs the examples and compares what they print with what their comments
# expect.
#
# `# expect: text` lines, in order, are the whole of standard output. In them `<*>` stands for any text:
# for what is measured, and so differs from machine to machine. `# args: a b` gives it arguments; `# needs: path`
# leaves it out where that file is missing. Standard error has to be empty and the exit status 0.
# In: REPLAY (the program, build/replay).
set -u
replay=${REPLAY:-build/replay}
[ $# -gt 0 ] || cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || set -- examples/*.rl examples/course/*.rl examples/course/solutions/*.rl
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 left=0
for file in "$@"; do
    needs=$(sed -n 's/^# needs: //p' "$file")
    if [ -n "$needs" ] && [ ! -e "$needs" ]; then
        left=$((left + 1))
        continue
    fi
    sed -n 's/^# expect: \{0,1\}//p' "$file" >"$tmp/expected"
    # shellcheck disable=SC2046
    timeout 300 "$replay" "$file" $(sed -n 's/^# args: //p' "$file") </dev/null >"$tmp/out" 2>"$tmp/err"
    status=$?
    if [ $status = 0 ] && [ ! -s "$tmp/err" ] && [ -s "$tmp/expected" ] && awk '
        function fits(text, pattern,   part, n, k, at) {
            n = split(pattern, part, /<\*>/)
            if (n < 2) return text == pattern
            if (substr(text, 1, length(part[1])) != part[1]) return 0
            text = substr(text, length(part[1]) + 1)
            for (k = 2; k < n; k++) {
                at = index(text, part[k])
                if (!at) return 0
                text = substr(text, at + length(part[k]))
            }
            return length(text) >= length(part[n]) && substr(text, length(text) - length(part[n]) + 1) == part[n]
        }
        NR == FNR { want[++n] = $0; next }
        { if (++m > n || !fits($0, want[m])) { exit bad = 1 } }
        END { exit bad || m != n }' "$tmp/expected" "$tmp/out"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$file: exit status $status; expected (-), printed (+):"
        diff -u "$tmp/expected" "$tmp/out" | tail -n +3
        cat "$tmp/err"
    fi
done
echo "examples: $passed passed, $failed failed, $left left out (their data is not installed)"
[ $failed = 0 ]
