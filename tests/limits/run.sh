#!/bin/sh
# run.sh: what strangers' scripts may try: long and deeply nested texts, more time, memory or output than they
# were given, files they may not touch; and what signals and closed pipes do. Everything must end in time,
# with the right status and message, and leave no file behind.
#
# In: REPLAY (build/replay), LIMITS_TIME: seconds that each text may take (20; the sanitizers need more, and what is
# given as --time grows with it).
set -u
most=${LIMITS_TIME:-20}
here=$(realpath "$(dirname "$0")/../..")
. "$here/tests/expect.sh"

# many N TEXT: TEXT N times, without a newline.
many() { awk -v n="$1" -v s="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s", s }'; }

# --- texts -----------------------------------------------------------------------------------------
many 1000000 '(' >paren.rl; expect 2 'error[syntax]' paren.rl
many 1000000 '[' >bracket.rl; expect 2 'error[syntax]' bracket.rl
many 200000 'checkpoint < ' >block.rl; expect 2 'nested more than' block.rl
{ many 5000 'not '; echo true; } >not.rl; expect 2 'nested more than' not.rl
{ many 5000 '1^'; echo 1; } >pow.rl; expect 2 'nested more than' pow.rl
{ printf 'x = '; many 900 '('; printf 1; many 900 ')'; printf '\nprint(x)\n'; } >deep.rl; expect 0 1 deep.rl
{ many 700000 'x = 1; '; printf 'y = = 2\n'; } >line.rl; expect 2 'expected an expression' line.rl
{ printf 'x = 1'; many 300000 ' + 1'; printf '\nprint(x)\n'; } >sum.rl; expect 0 300001 sum.rl
{ printf 'x = "'; many 1000000 '0123456789'; printf '"\nprint(len(x))\n'; } >string.rl; expect 0 10000000 string.rl
awk 'BEGIN { for (i = 0; i < 200000; i++) print "fn f" i "(x) = x + " i; print "print(f7(1))" }' >fns.rl; expect 0 8 fns.rl
awk 'BEGIN { for (i = 0; i < 300000; i++) print "x" i % 1000 " = " i; print "print(x5)" }' >stmts.rl; expect 0 299005 stmts.rl
awk 'BEGIN { printf "x = 5\nif (x == 0) { y = 0 }"; for (i = 1; i < 900; i++) print " else if (x == " i ") { y = " i " }"; print "print(y)" }' >elseif.rl
expect 0 5 elseif.rl
awk 'BEGIN { printf "{"; for (i = 0; i < 300000; i++) printf "\"a%d\": 1,\n", i; print "\"b\": 2}" }' >names.json
expect 0 300001 --time $((15 * most / 20)) -e 'print(len(keys(load("names.json"))))'
{ printf 'x = ones(1)\n('; many 65600 'a, ' ; printf 'b) = x\n'; } >targets.rl; expect 1 'targets.rl:2:1' targets.rl
{ many 499 'for (i in 0..1) {
'; printf 'x = 1\n'; many 499 '}
'; printf 'print(7)\n'; } >blocks.rl; expect 0 7 blocks.rl
# Text without end of any kind takes time as its length, and an error about it is short.
awk 'BEGIN { printf "fn f(k, x) = if (k == 0) { x }"; for (i = 1; i < 60000; i++) print " else if (k == " i ") { x * " i " }"; print " else { -x }\nprint(f(59999, 2), grad(f, 1)(59999, 2.0))" }' >elseifs.rl
expect 0 '119998 59999' --time $((15 * most / 20)) elseifs.rl
{ printf 'print('; many 200000 '1, '; printf '1)\n'; } >args.rl; expect 0 '1 1 1' --time $((10 * most / 20)) args.rl
{ printf 'f('; many 100000 'a = 1, '; printf ')\n'; } >twice.rl; expect 2 'is given twice' --time $((10 * most / 20)) twice.rl
[ "$(grep -c 'given twice' err)" -le 20 ] || { failed=$((failed + 1)); echo "FAIL: errors without end"; }
awk 'BEGIN { printf "fn f("; for (i = 0; i < 30000; i++) printf "a%d: [n%d], ", i, i; print ") = n7"; printf "v = [1, 2]\nprint(f("; for (i = 0; i < 30000; i++) printf "v, "; print "))" }' >contracts.rl
expect 0 2 --time $((10 * most / 20)) --limit 150MB contracts.rl
awk 'BEGIN { n = 60000; printf "p = {"; for (i = 0; i < n; i++) printf "a%d: 1.0, ", i; print "}"; for (i = 0; i < n; i++) print "s = p.a" i "; p.a" i " = s"
             printf "fn f(p) = p.a1"; for (i = 0; i < n; i++) printf " + p.a%d", i; print "\nprint(grad(f)(p).a1)" }' >fields.rl
expect 0 2 --time $((15 * most / 20)) fields.rl
printf 'p = {a: 1}\nfor (i in 0..200000) { p[format("b{}", i)] = i }\nprint(p.b199999)\n' >grow.rl; expect 0 199999 --time $((10 * most / 20)) grow.rl
# Derivatives of long functions take memory as their length, not as its square.
awk 'BEGIN { printf "fn f(x) {\nif (x == 0) { y = x }"; for (i = 1; i < 3000; i++) print " else if (x == " i ") { y = x * " i " }"; print " else { y = x }\ny\n}\nprint(grad(f)(5.0))" }' >elseg.rl
expect 0 5 --limit 200MB elseg.rl
for line in 'if (x > 2) { x = x * 1.1 }' 'for (i in 0..2) { x = sin(x) }' 'checkpoint < x = sin(x) >'; do
    { echo 'fn f(x) {'; many 10000 "$line;"; printf '\nx\n}\nprint(grad(f)(0.0))\n'; } >long.rl
    expect 0 1 --limit 150MB long.rl
done
# Blocks within blocks: the derivative takes memory as the square of their depth, and no more time than is allowed.
awk 'BEGIN { print "fn f(x) {"; for (i = 0; i < 300; i++) print "x = sin(x); checkpoint <"; print "x = x * x"; for (i = 0; i < 300; i++) print ">; x = cos(x)"; print "x }\nprint(grad(f)(1.0))" }' >blocks.rl
expect 0 '' --limit 150MB --time $((10 * most / 20)) blocks.rl
sed 's/checkpoint </if (true) {/; s/^>;/};/' blocks.rl >plain.rl
"$replay" plain.rl >plain 2>err; "$replay" blocks.rl >out 2>err; cmp -s plain out || { failed=$((failed + 1)); echo "FAIL: blocks nested 300 deep"; }
expect 1 'error[memory]' --limit 20MB blocks.rl
expect 1 'the time limit is over' --time 0.01 blocks.rl
awk 'BEGIN { for (i = 0; i < 100000; i++) print "a" i }' >names.rl; expect 2 'unknown name' names.rl
printf 't = ()\nfor (i in 0..200000) { t = append(t, i) }\nprint(len(t))\n' >append.rl; expect 0 200000 append.rl
printf 't = ()\nfor (i in 0..1000000) { t = (t,) }\nprint(t)\nu = t * 2\nprint(same(t, t))\n' >tuples.rl; expect 0 true tuples.rl
printf 'fn f(n) = f(n + 1) + 1\nf(0)\n' >recursion.rl; expect 1 'error[memory]' --limit 64MB recursion.rl
printf 'x = 1\0\nprint(x)\n' >nul.rl; expect 2 'NUL' nul.rl
printf 'x = "\377"\n' >utf8.rl; expect 2 'UTF-8' utf8.rl
printf 'import "./cycle.rl" as c\n' >cycle.rl; expect 1 'cycle of imports' cycle.rl

# --- limits ----------------------------------------------------------------------------------------
expect 1 'the time limit is over' --time 0.2 -e 'while (true) { x = 1 }'
expect 1 'the time limit is over' --time 0.2 -e 'fn f(x) { while (true) { x = x + 1 } }; while (true) { try(f, 1) }'
# Under every word, in every VM that a word opens, and for each entry of the prompt by itself.
echo 'while (true) { x = 1 }' >endless.rl
printf 'fn f(x) { while (true) { x = x + 1 } }\nfn h(x) = sum(zeros(10000000)) * x\nfn p(x) { for (i in 0..1000) { print("xxxxxxxxxx") }; x }\nfn w(x) { write_text("made", "x"); x }\nx = 2.0\n' >words.rl
for word in table graph saved memory schedule step; do
    expect 1 'the time limit is over' --time 0.2 $word words.rl 'f(x)'
    expect 1 'error[memory]' --limit 20MB $word words.rl 'h(x)'
    expect 1 'prints more than the limit' --max-output 100 $word words.rl 'p(x)'
    expect 1 'may not write' --no-files $word words.rl 'w(x)'
    expect 1 'the time limit is over' --time 0.2 $word endless.rl 'f(x)'
done
expect 1 'the time limit is over' --time 0.2 memory endless.rl
expect 1 'stopped before' --time 0.2 memory endless.rl --least
printf 'while (true) { x = 1 }\nprint("after")\n' >typed
"$replay" --time 0.3 repl <typed >out 2>err
if grep -q 'time limit' err && grep -q after out; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL: --time at the prompt"; fi
expect 1 'the time limit is over' --time 0.2 -e 't = (1,); for (i in 0..60) { t = (t, t) }; print(t)'
for code in 'grad(fn(t) = 1.0)(t)' 'format("{}", t)' 'tree_map(sin, t)'; do
    expect 1 'the time limit is over' --time 0.2 --limit 300MB -e "t = (0..2,); for (i in 0..60) { t = (t, t) }; $code"
done
expect 1 'the time limit is over' --time 0.2 -e 't = (1,); u = (1,); for (i in 0..60) { t = (t, t); u = (u, u) }; same(t, u)'
expect 1 'prints more than the limit' --max-output 100 -e 'while (true) { try(print, "xxxxxxxxxxxx") }'
expect 1 'error[memory]' --limit 20MB -e 'x = zeros(10000, 1000)'
expect 1 'error[memory]' --limit 20MB -e 'try(zeros, 10000, 1000)'
expect 1 'error[memory]' --limit 20MB -e 's = "ab"; while (true) { s = s + s }'
# What BLIS works in counts: large products do without it, LAPACK cannot.
expect 0 17576000 --limit 6MB -e "a = ones(260, 260); print(sum(a @ a))"
expect 1 "out of memory" --limit 6MB -e "inv([[1, 0], [0, 1]])"
expect 1 'cannot be' -e 'zeros(4294967296, 4294967296)'
for code in 'load("a.npy")' 'read_text("deep.rl")' 'write_text("made", "")' 'save("made.npy", [1])' 'exists("deep.rl")'; do
    expect 1 'the program may not' --no-files -e "$code"
done
expect 0 none --no-files -e 'print(env("HOME"))'
expect 1 'may not read files' --no-files -e 'import "./deep.rl" as d'
expect 2 '--time needs' --time soon -e 1
[ ! -e made ] && [ ! -e made.npy ] || { failed=$((failed + 1)); echo "FAIL: --no-files made a file"; }

# Arrays that cost no memory end as soon, whatever is done with them: every builtin, alone and beside another argument.
"$replay" spec | sed -n 's/^\*\*`\([a-z_0-9]*\)(.*)`\*\*.*/\1/p' | sort -u >names
[ "$(wc -l <names)" -ge 150 ] || { failed=$((failed + 1)); echo "FAIL: the builtins are not listed"; }
soft=0
for name in $(grep -vx 'input\|exit\|sleep' names); do
    for x in 'expand(false, i64(2)^40)' 'expand(0.5, i64(2)^20, i64(2)^20)'; do
        for call in "$name(x)" "$name(x, x)"; do
            timeout "$most" "$replay" --limit 100MB --time 0.05 -e "x = $x; $call" >out 2>err </dev/null
            got=$?
            if [ $got -gt 2 ] || grep -q 'did not end' err; then
                failed=$((failed + 1)); echo "FAIL: $call of $x: status $got"; head -c 300 err
            elif grep -q 'the time limit is over' err; then soft=$((soft + 1)); fi
        done
    done
done
if [ $soft -ge 20 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL: only $soft calls took long"; fi
for code in 'save("big.npy", x)' 'save("big.json", x)' 'save("big.csv", x)' 'save("big.safetensors", {x: x})' 'save("big.state", x)' \
    'm = expand(false, i64(2)^40); m[m]' 'sum(sin(x) * 2 + 1)' 'sum(x * x)' 'has(x, 5)' 'same(x[1:], x[:-1])' 'for (v in x) { }'; do
    expect 1 'the time limit is over' --limit 300MB --time 0.1 -e "x = expand(0.5, i64(2)^40); $code"
    grep -q 'did not end' err && { failed=$((failed + 1)); echo "FAIL: $code does not look"; }
done
[ -z "$(find . -name 'big*')" ] || { failed=$((failed + 1)); echo "FAIL: left behind: $(find . -name 'big*')"; }

# --- the environment --------------------------------------------------------------------------------
# LAPACK has the same bits whatever is said about kernels, and whatever ran before it.
printf "a = randn(200, 200)\nprint(sum(solve(a, sin(a))))\n" >solve.rl
{ echo "z = ones(300, 300) @ ones(300, 300)"; cat solve.rl; } >after.rl
want=$("$replay" solve.rl)
for type in "" 0 1 3 5 bad; do BLIS_ARCH_TYPE=$type expect 0 "$want" solve.rl; done
expect 0 "$want" after.rl

# --- signals ---------------------------------------------------------------------------------------
# The status is 128 + the signal's number; a file being replaced again and again is old or new, never half.
for signal in INT TERM HUP; do
    printf 'print("on")\nx = ones(200, 200)\nfor (i in 0..1000000000) { save("state.npy", x) }\n' >write.rl
    timeout --preserve-status -s $signal 1 "$replay" write.rl >out 2>err </dev/null
    got=$?
    "$replay" -e 'print(shape(load("state.npy")))' >loaded 2>&1
    if [ $got -gt 128 ] && grep -qF '(200, 200)' loaded && [ -z "$(find . -name '*.part*')" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1)); echo "FAIL: SIG$signal: status $got, $(cat loaded) $(find . -name '*.part*')"
    fi
    rm -f state.npy
done
# A training killed outright, again and again, ends with the bits of one that was left alone.
"$replay" "$here/examples/resume.rl" whole.state 200 >out 2>err
killed=0 got=137
for seconds in 0.2 0.3 0.25 0.35 0.5 1 2 4 8 16 32; do
    timeout -s KILL $seconds "$replay" "$here/examples/resume.rl" killed.state 200 >again 2>err </dev/null
    got=$?
    [ $got = 0 ] && break
    killed=$((killed + 1))
done
if [ $got = 0 ] && [ $killed -gt 0 ] && grep -q '^on from epoch' again && [ "$(tail -1 again)" = "$(tail -1 out)" ] &&
    cmp -s whole.state killed.state; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "FAIL: a training killed $killed times: status $got, $(tail -1 again), not $(tail -1 out)"; cat err
fi
timeout "$most" "$replay" -e 'while (true) { print("a long line") }' 2>err | head -1 >out
if [ "$(cat out)" = "a long line" ] && [ ! -s err ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL: a closed pipe"; fi
if [ -w /dev/full ]; then
    printf 'fn f(x) = sum(sin(x) * x)\nx = [0.5, 0.7]\n' >full.rl
    for words in "-e print(1)" --help --version spec "dis full.rl" "memory full.rl --least" repl "saved full.rl f(x)" "table full.rl f(x)" \
        "graph full.rl f(x)" "memory full.rl f(x)" "schedule full.rl f(x)" "adjoint full.rl f(x)"; do
        # shellcheck disable=SC2086
        echo 'print(1)' | "$replay" $words >/dev/full 2>err
        if [ $? = 1 ] && grep -q '^error\[file\]: output cannot be written' err; then passed=$((passed + 1)); else
            failed=$((failed + 1)); echo "FAIL: a full disk goes unnoticed by $words"
        fi
    done
fi

printf 'limits: %d passed' $passed
[ $failed -gt 0 ] && printf ', %d FAILED' $failed
echo
[ $failed = 0 ]
