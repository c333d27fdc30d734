#!/bin/sh
# report.sh TARGET STATUS LOG: one line of what a run of a fuzzer did; after a finding, the end of its log. The status is
# the fuzzer's.
awk -v target="$1" -v status="$2" '
    /^#[0-9]+/ { for (i = 1; i <= NF; i++) { if ($i == "cov:") cov = $(i + 1); if ($i == "ft:") ft = $(i + 1) } }
    /^Done [0-9]+ runs in/ { seconds = $5 }
    /^stat::number_of_executed_units:/ { units = $2 }
    END { printf "fuzz: %s: %d executions in %d s, %d edges, %d features, %s\n", target, units, seconds, cov, ft, status == 0 ? "no finding" : "A FINDING" }' "$3"
[ "$2" = 0 ] || tail -100 "$3"
exit "$2"
