#!/bin/sh
# covered.sh: every builtin is compared with NumPy or PyTorch by a script beside this, or is one of those below.
# In: REPLAY (the program, build/replay).
set -u
replay=${REPLAY:-build/replay}
cd "$(dirname "$0")/../.." || exit 1
# Random numbers have a generator of their own; the rest has no counterpart there.
left_out='rand randn randint permutation choice seed
load save save_state read_text write_text exists args env time progress plot hist imshow save_plot
append zip enumerate has keys same type unflatten name stop_grad zip
print help format join trim replace ord chr error assert
value_and_grad vjp jvp jacobian hessian hvp custom_vjp saved check_grad map fold scan tree_map try measure'
missing=
names=$("$replay" spec | sed -n '/^## The modules/q; s/^\*\*`\([a-z_0-9]*\)(.*/\1/p')
[ -n "$names" ] || exit 1
for name in $names; do
    case " $(echo $left_out) " in *" $name "*) continue ;; esac
    grep -qE "(^|[^a-z_0-9])$name([^a-z_0-9]|$)" tests/numpy/*.rl || missing="$missing $name"
done
if [ -n "$missing" ]; then
    echo "numpy: not compared:$missing"
    exit 1
fi
echo "numpy: all $(echo "$names" | wc -l) builtins are compared, or have nothing to be compared with"
