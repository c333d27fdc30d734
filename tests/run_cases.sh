#!/bin/sh
# run_cases.sh: runs every .rl below the given folders (tests/cases by default) and compares what it
# prints with what its comments say.
#
#   # expect: line             a line of standard output; all of them, in order
#   # error: code 3:7 words    on standard error: error[code] at line 3, column 7, with these words in
#                              its message (the place and the words may be left out)
#   # warning: …               the same for warnings; `# note:` without a code
#   # help: words              words of a help line on standard error
#   # status: 1                exit status; else 0, or 1 or 2 when there is an `# error:`
#   # options: --seed 3        options before the file; `check` for `replay check`
#   # args: a b                arguments after it
#   # quiet                    nothing may stand on standard error
#   # repl                     the text is typed into the REPL
#   # skip: reason
#   # fix 2: text              with this for line 2 it runs and says nothing on standard error: what the help says works
#
# Beside a file.rl a file.report holds all that must stand on standard error; UPDATE=1 writes those there are.
#
# In: REPLAY (the program, build/replay). Out: one line for each case that fails, with the difference.
set -u
replay=${REPLAY:-build/replay}
cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0
NO_COLOR=1
export NO_COLOR

# Diagnostics as lines `error[code] line:column message`.
flatten_errors() {
    awk '/^(error|warning|note)(\[[a-z]+\])?: / { head = $0; getline; at = "0:0"
             if (match($0, /:[0-9]+:[0-9]+$/)) at = substr($0, RSTART + 1)
             if (!sub(/\]: /, "] " at " ", head)) sub(/: /, "[] " at " ", head)
             print head; next }
         /^ *= help: / { sub(/^ *= /, ""); print }' "$1"
}

fail() {
    failed=$((failed + 1))
    printf 'FAIL %s: %s\n' "$1" "$2"
    [ -s "$tmp/report" ] && sed 's/^/    /' "$tmp/report"
    : >"$tmp/report"
}

run_case() {
    file=$1
    if grep -q '^# skip:' "$file"; then skipped=$((skipped + 1)); return; fi
    options=$(sed -n 's/^# options: //p' "$file") args=$(sed -n 's/^# args: //p' "$file")
    if grep -q '^# repl$' "$file"; then
        "$replay" repl <"$file" >"$tmp/out" 2>"$tmp/err"
    else
        # shellcheck disable=SC2086
        timeout "${CASE_TIMEOUT:-60}" "$replay" $options "$file" $args >"$tmp/out" 2>"$tmp/err" </dev/null
    fi
    status=$?
    sed -n 's/^ *# expect:$/# expect: /; s/^.*# expect: //p' "$file" >"$tmp/want"
    : >"$tmp/report"
    if ! cmp -s "$tmp/want" "$tmp/out"; then
        diff "$tmp/want" "$tmp/out" >"$tmp/report"
        head -20 "$tmp/err" >>"$tmp/report"
        fail "$file" "output differs"
        return
    fi
    flatten_errors "$tmp/err" >"$tmp/flat"
    wanted=$(sed -n 's/^# status: //p' "$file")
    sed -n 's/^.*# \(error\|warning\|note\|help\): /\1 /p' "$file" >"$tmp/wanted"
    while read -r kind rest; do
        if [ "$kind" = help ]; then pattern="help: *$rest"
        else
            code=${rest%% *} words=${rest#"$code"} place=
            words=${words# }
            [ "$kind" = note ] && code='' words=$rest
            case $words in [0-9]*:[0-9]*) place=${words%% *} words=${words#"$place"} words=${words# } ;; esac
            pattern="$kind[$code] ${place:-*} *$words"
        fi
        found=0
        while IFS= read -r line; do
            if [ "$kind" = help ]; then case $line in "help: "*"$rest"*) found=1 ;; esac
            else case $line in "$kind[$code] "${place:-*}" "*"$words"*) found=1 ;; esac
            fi
        done <"$tmp/flat"
        # The words may also stand elsewhere in what was printed, but for the place given.
        if [ $found = 0 ] && [ "$kind" != help ] && grep -qF -- "$words" "$tmp/err" &&
            grep -q "^$kind\[$code\] ${place:-.*}" "$tmp/flat"; then found=1; fi
        if [ $found = 0 ]; then
            cat "$tmp/err" >"$tmp/report"
            fail "$file" "no $pattern"
            return
        fi
    done <"$tmp/wanted"
    if grep -q '^# quiet$' "$file" && [ -s "$tmp/err" ]; then
        cat "$tmp/err" >"$tmp/report"
        fail "$file" "something on standard error"
        return
    fi
    errors=$(grep -c '^error' "$tmp/wanted")
    if [ "$errors" = 0 ] && grep -q '^error' "$tmp/flat"; then
        cat "$tmp/err" >"$tmp/report"
        fail "$file" "an error that was not expected"
        return
    fi
    if [ "$status" != "${wanted:-$status}" ] || { [ -z "$wanted" ] && [ "$errors" = 0 ] && [ "$status" != 0 ]; } ||
        { [ -z "$wanted" ] && [ "$errors" != 0 ] && [ "$status" = 0 ]; }; then
        cat "$tmp/err" >"$tmp/report"
        fail "$file" "status $status"
        return
    fi
    whole=${file%.rl}.report
    if [ -f "$whole" ]; then
        sed "s#$file#${file##*/}#g" "$tmp/err" >"$tmp/said"
        [ "${UPDATE:-}" ] && cp "$tmp/said" "$whole"
        if ! diff "$whole" "$tmp/said" >"$tmp/report"; then
            fail "$file" "the report differs"
            return
        fi
    fi
    if grep -q '^# fix ' "$file"; then
        awk '/^# fix / { at = $3 + 0; sub(/^# fix [0-9]+: /, ""); fixed[at] = $0; next } { line[NR] = $0 }
             END { for (k = 1; k <= NR; k++) print k in fixed ? fixed[k] : line[k] }' "$file" >"$tmp/fixed.rl"
        # shellcheck disable=SC2086
        if ! "$replay" $options "$tmp/fixed.rl" >/dev/null 2>"$tmp/report" </dev/null || [ -s "$tmp/report" ]; then
            fail "$file" "what the help says does not work"
            return
        fi
    fi
    passed=$((passed + 1))
}

for root in "${@:-tests/cases}"; do
    find "$root" -name '*.rl' -not -path '*/modules/*' | sort >"$tmp/files"
    exec 3<"$tmp/files"
    while IFS= read -r name <&3; do run_case "$name"; done
    exec 3<&-
done
printf '%d cases passed' "$passed"
[ $skipped -gt 0 ] && printf ', %d skipped' "$skipped"
[ $failed -gt 0 ] && printf ', %d FAILED' "$failed"
echo
[ $failed = 0 ]
