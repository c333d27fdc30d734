#!/bin/sh
# run.sh: the command line: its options and subcommands, what it says of wrong ones, and its statuses.
#
# In: REPLAY (build/replay). Out: a line for each thing that is not as it should be, and one of counts.
set -u
most=60
. "$(dirname "$0")/../expect.sh"

# also WORDS: the last one said this, too.
also() { if grep -qE -- "$1" out err; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL: no: $1"; head -c 600 err; fi; }

cat >work.rl <<'END'
fn step(x) = tanh(x) * 1.1
fn loss(x, y) {
    for (i in 0..6) { checkpoint < x = step(x) > }
    sum((x - y)^2)
}
x = linspace(0, 1, 100)
y = x * 0.5
print(loss(x, y) > 0)
g = grad(loss)(x, y)
END

# --- options ---------------------------------------------------------------------------------------
expect 0 'usage: replay' --help
also '^  --budget SIZE +live arrays'
expect 0 'usage: replay' -h
expect 0 'replay 0.' --version
also 'LAPACK'
expect 2 'did you mean --budget?' --budgte 1MB work.rl
expect 2 'unknown option --zzz' --zzz
also 'Try .replay --help'
expect 2 'needs' --budget
for size in 0 x 10XB -3MB 1e30GB; do expect 2 '--limit needs a size such as' --limit $size work.rl; done
expect 0 true --limit=1.5GiB work.rl
expect 0 true --budget 64MB work.rl
for seconds in 0 soon -1 1e9 3x; do expect 2 '--time needs a number of seconds' --time $seconds work.rl; done
expect 0 true --time 50 work.rl
expect 2 '--float is f32 or f64, not `f16`' --float f16 work.rl
expect 0 f32 --float f32 -e 'print(dtype(1.5 * ones(2)))'
expect 0 f64 --float=f64 -e 'print(dtype(1.5 * ones(2)))'
expect 2 '--threads needs a whole number from 1 to' --threads 0 work.rl
expect 2 '--seed needs a whole number, not `-1`' --seed -1 work.rl
expect 2 '--max-output needs a size' --max-output none work.rl
expect 2 'needs code' -e
expect 0 '("a", "b c")' -e 'print(args())' a 'b c'
expect 2 'cannot read' -- --version
"$replay" --seed 7 -e 'print(randn(2))' >one && "$replay" --seed 0x7 -e 'print(randn(2))' >two
cmp -s one two && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAIL: a seed in hexadecimal"; }
expect 1 'error[nan]' --trace-nan -e 'x = [0.0]; print(x / x)'
expect 0 '[nan]' -e 'x = [0.0]; print(x / x)'

# --- help ------------------------------------------------------------------------------------------
expect 0 'Derivatives and functions of functions' -e 'help()'
also '^  .*value_and_grad'
also ' tanh( |$)'
awk 'length($0) > 110 { exit 1 }' out && ! grep -q '__' out && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAIL: lines of help()"; }
expect 0 'derivative: ' -e 'help(tanh)'
expect 0 'dense' -e 'import "nn" as nn; help(nn.dense)'

# --- figures ---------------------------------------------------------------------------------------
expect 0 'of which saved for the adjoint program' --stats work.rl
also 'steps under a gradient: 6'
also 'block at work.rl:3:23: 6 replays'
expect 0 '"peak_bytes": ' --stats=json work.rl
expect 2 'only json is known' --stats=xml work.rl
expect 0 'of which in primitives' --profile work.rl
also 'work.rl:1 [a-z_ +]*(tanh|fused)'
also 'replay'

# --- where the text comes from ---------------------------------------------------------------------
echo 'print(6 * 7)' | "$replay" >out 2>err && [ "$(cat out)" = 42 ] && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAIL: a script from a pipe"; }
echo 'x = (' | "$replay" - >out 2>err
[ $? = 2 ] && also '<stdin>:1'
{ printf 'x = "'; awk 'BEGIN { for (i = 0; i < 20000; i++) printf "0123456789" }'; printf '"\nprint(len(x))\n'; } | "$replay" - >out 2>err
also '^200000$'
expect 2 'cannot read missing.rl' missing.rl
expect 2 'cannot read missing.rl' check missing.rl

# --- subcommands -----------------------------------------------------------------------------------
echo 'y = undefined_name + 1' >wrong.rl
expect 2 'unknown name' check wrong.rl
expect 0 'true' work.rl
"$replay" check work.rl >out 2>err && [ ! -s out ] && [ ! -s err ] && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAIL: check of a sound script"; }
expect 2 'needs a file' check
expect 2 'too many arguments' check work.rl wrong.rl
expect 0 'fn step(x)' dis work.rl
expect 0 'prim tanh' dis work.rl step
expect 2 'the script has no function `stepp`' dis work.rl stepp
also 'did you mean .step.'
expect 2 'needs a file' dis
expect 2 'too many arguments' dis work.rl step x
expect 2 'too many arguments' spec x
expect 0 '**`tanh(x)`**' spec
for view in table graph saved schedule step; do
    expect 2 'a script is needed' $view
    expect 2 'a call is needed' $view work.rl
    expect 2 'too many arguments' $view work.rl 'loss(x, y)' more
    expect 2 '-o needs a file' $view work.rl 'loss(x, y)' -o
    expect 2 'an option that is not known here' $view work.rl 'loss(x, y)' --colour
    expect 1 'error[' $view work.rl 'nowhere(x)'
    expect 1 'is not a function' $view work.rl 'x(y)'
    expect 1 'error[' $view work.rl 'loss(x)'
    expect 2 'cannot read' $view missing.rl 'loss(x, y)'
done
expect 2 'the name of a function is needed' adjoint work.rl
expect 2 'the script has no function `x`' adjoint work.rl x
expect 1 'error[' table work.rl 'loss(x, y)' --save=sometimes
echo 'p = {w: x, t: (y, "text", {k: 1})}; fn g(p, more) = sum(p.w * p.t[0]) + more' >parts.rl
cat work.rl parts.rl >both.rl
expect 0 '{w: ' table both.rl 'g(p, 2.0)'
expect 0 '{w: ' table both.rl 'g((p, 2.0)...)'
expect 1 'only a tuple can be spread' table both.rl 'g(x...)'
expect 1 'error[file]' table work.rl 'loss(x, y)' -o missing/folder/out.svg

# --- the least budget ------------------------------------------------------------------------------
cat >chain.rl <<'END'
fn f(x) { for (i in 0..40) { x = sin(x) * 1.1 }; sum(x) }
print(sum(grad(f)(linspace(0, 1, 1000))) > 0)
END
expect 0 'least budget' memory chain.rl --least
least=$(sed -n 's/.*least budget \([0-9]*\) bytes.*/\1/p' out) peak=$(sed -n 's/^peak \([0-9]*\) bytes.*/\1/p' out)
if [ "${least:-0}" -gt 0 ] && [ $((least * 2)) -lt "$peak" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL: a least budget of $least for a peak of $peak"; fi
expect 0 true --budget "$least" chain.rl
expect 1 'error[budget]' --budget $((least * 9 / 10)) chain.rl
expect 1 'does not run to its end without a budget' memory wrong.rl --least

printf 'command: %d passed' $passed
[ $failed -gt 0 ] && printf ', %d FAILED' $failed
echo
[ $failed = 0 ]
