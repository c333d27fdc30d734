#!/bin/sh
# embed.sh: prints a C file that carries the given .rl files, for the modules inside the program.
#
# In: paths; out: `stdlib_modules`, one row per file that exists (name without folder and .rl, text,
# length), ended by a row of zeros. Texts are written as numbers, so any byte may occur in them; an
# unmatched pattern such as stdlib/*.rl is no file and gives no row.
set -eu
LC_ALL=C
export LC_ALL

printf '/* Made by stdlib/embed.sh. */\n'
rows=
n=0
for path in "$@"; do
    [ -f "$path" ] || continue
    [ -r "$path" ] || { printf 'embed.sh: cannot read %s\n' "$path" >&2; exit 1; }
    name=$(basename "$path" .rl | sed 's/[\\"]/\\&/g')
    printf 'static const unsigned char text_%d[] = {\n' "$n"
    od -An -v -tu1 <"$path" | sed 's/[[:blank:]][[:blank:]]*\([0-9]\)/\1/; s/[[:blank:]][[:blank:]]*/,/g; s/,*$/,/'
    printf '0};\n' # ends the text as a string; not counted in its length
    rows="$rows    {\"$name\", (const char *)text_$n, sizeof text_$n - 1},
"
    n=$((n + 1))
done
printf '\nconst struct stdlib_module {\n    const char *name;\n    const char *text;\n    unsigned long length;\n'
printf '} stdlib_modules[] = {\n%s    {0, 0, 0},\n};\n' "$rows"
