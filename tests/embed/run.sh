#!/bin/sh
# run.sh: the installed library as a stranger meets it: through pkg-config, shared and static, with nothing
# of the source tree on the compiler's path.
#
# In: STAGE (where it was installed), CC, CFLAGS (sanitizers). Out: a line for each part that passed.
set -eu
cd "$(dirname "$0")/../.."
export PKG_CONFIG_PATH="$STAGE/lib/pkgconfig" LD_LIBRARY_PATH="$STAGE/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
flags="-g -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror ${CFLAGS:-}"

# Nothing but replay_ is for others to see.
others=$(nm -D --defined-only "$STAGE/lib/libreplay.so" | awk '$2 ~ /[TDBRVW]/ && $3 !~ /^replay_/ && $3 !~ /^_(init|fini)$/ && $3 !~ /asan|tsan|ubsan/ { print $3 }')
[ -z "$others" ] || { echo "libreplay.so shows symbols that are not replay_*:" $others; exit 1; }
others=$(nm -g --defined-only "$STAGE/lib/libreplay.a" | awk 'NF == 3 && $3 !~ /^replay_/ && $3 !~ /asan|tsan|ubsan/ { print $3 }')
[ -z "$others" ] || { echo "libreplay.a shows symbols that are not replay_*:" $others; exit 1; }

# shellcheck disable=SC2046,SC2086
{
    ${CC:-gcc} $flags examples/embed.c -o "$tmp/example" $(pkg-config --cflags --libs replay) -lm
    ${CC:-gcc} $flags tests/embed/embed.c -o "$tmp/shared" $(pkg-config --cflags --libs replay) -lm -pthread
    ${CC:-gcc} $flags tests/embed/embed.c -o "$tmp/static" $(pkg-config --cflags replay) "$STAGE/lib/libreplay.a" \
        $(pkg-config --static --libs replay | sed 's/-lreplay//g') -pthread
}
"$tmp/example" >"$tmp/out"
sed -n '/It prints/,/\*\//{/^ \*     /{s/^ \*     //;s, \*/$,,;p;};}' examples/embed.c >"$tmp/want"
cmp -s "$tmp/want" "$tmp/out" || { echo "examples/embed.c prints something else than it says:"; diff "$tmp/want" "$tmp/out"; exit 1; }
for kind in shared static; do
    printf '%s: ' "$kind"
    "$tmp/$kind"
done
