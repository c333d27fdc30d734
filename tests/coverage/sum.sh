#!/bin/sh
# sum.sh: sums what `gcov -n` prints, by file of vm and lang, the least covered last. COVERAGE_LEAST: fails below so many
# per cent (0).
awk -F"[':% ]+" -v least="${COVERAGE_LEAST:-0}" '
    /^File / { file = $2 ~ /^(vm|lang)\/[a-z0-9_]+\.c$/ ? $2 : "" }
    /^Lines executed/ && file { part = $3 / 100 * $5; all += $5; run += part; printf "%6.1f %% of %4d  %s\n", $3, $5, file | "sort -rn"; file = "" }
    END {
        close("sort -rn")
        if (!all) exit 1
        printf "coverage: %.1f %% of %d lines\n", 100 * run / all, all
        if (100 * run / all < least) { printf "less than %s %%\n", least; exit 1 }
    }'
