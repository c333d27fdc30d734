#!/bin/sh
# run.sh [FILE.md]: SPEC.md against the program. Every block fenced as ```replay is run and has to do what
# its comments say, and the generated sections have to be what `replay spec` prints. README.md's program has to be
# examples/first.rl, which is run with the other examples.
#
# In a block:
#   expression  # → text    what print(expression) prints, or what the statement on the line does
#   # → text                on a line of its own: one more line of output
#   # error: words          the block fails; the words are in its message, outside of the line shown
#   # note: words           so they are in a note or warning
#   # status: n             exit status (else 0, and 1 or 2 with an error)
# Behind `replay` on the fence: options before the script (--float=f32), or `check`, or `repl`; or `dis NAME`,
# `adjoint NAME`: then the block is the script, a line `---`, and the listing.
# In: REPLAY (the program, build/replay).
set -u
replay=$(realpath "${REPLAY:-build/replay}")
cd "$(dirname "$0")/../.." || exit 1
spec=${1:-SPEC.md}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
NO_COLOR=1
export NO_COLOR
# Each block becomes number.rl, what is wanted number.want, number.err, and a line of `blocks`.
awk -v dir="$tmp" '
    function text_of(line, mark,   at) {
        at = index(line, mark)
        line = substr(line, at + length(mark))
        sub(/^ /, "", line)
        return line
    }
    /^```replay/ && !inside {
        inside = 1
        base = sprintf("%s/%04d", dir, ++n)
        repl = $0 ~ / repl$/
        listing = $0 ~ /^```replay (dis|adjoint) /
        listed = 0
        print n, NR, substr($0, 11) > (dir "/blocks")
        printf "" > (base ".rl")
        printf "" > (base ".want")
        printf "" > (base ".err")
        next
    }
    /^```/ && inside { inside = 0; close(base ".rl"); close(base ".want"); close(base ".err"); next }
    !inside { next }
    {
        line = $0
        if (listing) {
            if (line == "---") listed = 1
            else print line > (base (listed ? ".want" : ".rl"))
            next
        }
        if (match(line, /# error: /)) print "error " text_of(line, "# error:") > (base ".err")
        else if (match(line, /# note: /)) print "note " text_of(line, "# note:") > (base ".err")
        else if (match(line, /# status: /)) print "status " text_of(line, "# status:") > (base ".err")
        else if ((at = index(line, "# →"))) {
            print text_of(line, "# →") > (base ".want")
            code = substr(line, 1, at - 1)
            sub(/[ \t]+$/, "", code)
            if (!repl && code != "" && code !~ /^[ \t]/ && code !~ /^(for|while|if|else|fn|import|checkpoint|print|help)[ (]/ &&
                code !~ /^[^ (]+ [-+*\/^@]?= / && code !~ /^\([a-z, ()]*\) = /) {
                print "print(" code ")" > (base ".rl")
                next
            }
        }
        print line > (base ".rl")
    }' "$spec"
passed=0 failed=0
fail() {
    failed=$((failed + 1))
    echo "$spec:$1: $2"
    sed 's/^/    /' "$tmp/report"
}
if [ "$spec" = README.md ]; then
    sed '/^# expect: /d' examples/first.rl >"$tmp/held"
    if diff "$tmp/held" "$tmp/0001.rl" >"$tmp/report"; then
        echo "README.md: its program is examples/first.rl"
        exit 0
    fi
    fail 1 "its program is not examples/first.rl (< that, > the README's)"
    exit 1
fi
while read -r n line options; do
    base=$(printf '%s/%04d' "$tmp" "$n")
    cd "$tmp" || exit 1
    case $options in
    dis\ * | adjoint\ *) "$replay" "${options%% *}" "$base.rl" "${options#* }" >"$tmp/out" 2>"$tmp/err" ;;
    repl) "$replay" repl <"$base.rl" >"$tmp/out" 2>"$tmp/err" ;;
    *) # shellcheck disable=SC2086
        timeout 60 "$replay" $options "$base.rl" >"$tmp/out" 2>"$tmp/err" </dev/null ;;
    esac
    status=$?
    cd - >/dev/null || exit 1
    if ! diff "$base.want" "$tmp/out" >"$tmp/report"; then
        cat "$tmp/err" >>"$tmp/report"
        fail "$line" "output differs (< wanted, > printed)"
        continue
    fi
    wanted=$(sed -n 's/^status //p' "$base.err") missing=
    grep '^error\|^note' "$base.err" >"$tmp/messages"
    while read -r kind words; do
        if [ "$kind" = error ]; then kinds=error; else kinds='\(note\|warning\)'; fi
        grep -q "^$kinds" "$tmp/err" && sed 's/^[0-9 ]*|.*//' "$tmp/err" | grep -qF -- "$words" || missing="$kind: $words"
    done <"$tmp/messages"
    cp "$tmp/err" "$tmp/report"
    if [ -n "$missing" ]; then fail "$line" "no $missing"
    elif ! grep -q '^error' "$base.err" && grep -q '^error' "$tmp/err"; then fail "$line" "an error that was not expected"
    elif ! grep -q '^note' "$base.err" && grep -q '^\(note\|warning\)' "$tmp/err"; then fail "$line" "a note that was not expected"
    elif grep -q '^error' "$base.err" && [ -z "$wanted" ] && [ $status = 0 ]; then fail "$line" "status 0"
    elif ! grep -q '^error' "$base.err" && [ -z "$wanted" ] && [ $status != 0 ]; then fail "$line" "status $status"
    elif [ -n "$wanted" ] && [ "$wanted" != $status ]; then fail "$line" "status $status, not $wanted"
    else passed=$((passed + 1))
    fi
done <"$tmp/blocks"
# No example unrun: `replay` blocks are run here, those inside the generated part by the test of the table.
sed -n '/^<!-- made by `replay spec`/,/^<!-- end -->/p' "$spec" | sed '1d;$d' >"$tmp/held"
"$replay" spec >"$tmp/made"
if ! diff "$tmp/held" "$tmp/made" >"$tmp/report"; then
    head -20 "$tmp/report" >"$tmp/out" && mv "$tmp/out" "$tmp/report"
    fail 1 "the generated sections are stale (< held, > made); refresh them with tests/spec/refresh.sh"
fi
echo "spec: $passed examples passed, $failed failed"
[ $failed = 0 ]
