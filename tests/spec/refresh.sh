#!/bin/sh
# refresh.sh: puts what `replay spec` prints between its markers in SPEC.md. In: REPLAY (build/replay).
set -eu
replay=$(realpath "${REPLAY:-build/replay}")
cd "$(dirname "$0")/../.."
tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
{
    sed '/^<!-- made by `replay spec`/q' SPEC.md
    "$replay" spec
    sed -n '/^<!-- end -->/,$p' SPEC.md
} >"$tmp"
cat "$tmp" >SPEC.md
