#!/bin/sh
# seeds.sh FOLDER TARGET…: what the corpora of the targets start from, below FOLDER: for `text` the cases, listings and
# small examples, and the language's words; for others, bytes. Those that grew there stay.
set -eu
out=$1
shift
for t; do
    case $t in
    text)
        for f in $(find tests/cases tests/golden tests/faults tests/fuzz/corpus/text examples -name '*.rl' -size -7); do
            cp "$f" "$out/text/$(echo "$f" | tr / _)"
        done
        # Tokens between quotes in the lexer, and the rows' names.
        { sed -n '/re2c:define/,$p' lang/lex.re | grep -o '^ *"[^"]*" *{\|  "[^"]*" {' | sed 's/^ *\("[^"]*"\).*/\1/' | grep -v '\\'
            sed -n 's/^ *[A-Z]*(\([a-z][a-z0-9_]*\),.*/"\1"/p' vm/prim_*.def
        } | sort -u >"$out/text.dict"
        ;;
    code | program)
        for i in $(seq 1 40); do
            [ -e "$out/$t/start$i" ] || head -c $((i * 20)) /dev/urandom >"$out/$t/start$i"
        done
        ;;
    esac
done
