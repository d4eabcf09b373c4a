#!/bin/bash
# Detail in windows of at most 5 % of the time, against the same run with all detail: operations in windows are complete on
# all ranks, the late rank is named, its cost is within 20 % of that of the full recording in most runs, and the interval
# contains that of the full recording in 90 %. Nothing is called missing or lost.
#   SEEDS=50 tests/run.sh tests/system/windows_truth.sh
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"

gen() { # NAME OPTION...
    local name=$1
    shift
    rm -rf "${TMP:?}/$name"
    "$RINGSCOPE" gen --no-truth "$@" -o "$TMP/$name" >"$TMP/log" || { cat "$TMP/log"; exit 1; }
}
# Of the operations that every rank called in a window (2 ms after it had begun on all ranks, and before it ended on any):
# how many there are, and how many of them have all times. Windows are spans of the recordings that have KernelCh.
inside() {
    jq -r '[.coverage[] | select(.mask / 64 | floor % 2 == 1)] | group_by([.host, .pid]) | map(sort_by(.from_ns)) | transpose[]
        | select(all(.[]; . != null)) | ["span", (map(.from_ns) | max) + 2e6, (map(.to_ns) | min)] | @tsv' "$TMP/info"
    "$RINGSCOPE" ops --json "$TMP/part" | jq -r '(.ranks | map(.enqueued_ns)) as $calls
        | ["op", ($calls | min), ($calls | max), (.complete and all(.ranks[]; .start_ns != null)), (.missing | length)] | @tsv'
}
# shellcheck disable=SC2016 # variables of jq
count='
    $1 == "span" { from[n] = $2; to[n++] = $3; next }
    { missing += $5
      while (at < n && to[at] <= $2) at++
      if (at < n && from[at] <= $2 && $3 < to[at]) { inside++; whole += $4 == "true" } }
    END { print inside + 0 "\t" whole + 0 "\t" missing + 0 }'

: >"$TMP/rows"
: >"$TMP/joined"
first=${FIRST_SEED:-1}
for seed in $(seq "$first" $((first + ${SEEDS:-1} - 1))); do
    for work in ddp tpppdp; do
        who=$((seed % 6 + 1))
        options=(-w "$work" -n 8 --hosts 2 --seed "$seed" --events ops --clock-offset 0 --slow "$who:1500")
        if [ "$work" = ddp ]; then
            options+=(--steps 1600 --compute 4000) windows=40ms:800ms
        else
            options+=(--steps 400 --microbatches 4) windows=60ms:1200ms
        fi
        gen full "${options[@]}"
        gen part "${options[@]}" --detail "$windows"
        "$RINGSCOPE" report --json "$TMP/part" >"$TMP/report" || { echo "report of $work, seed $seed"; bad=1; }
        named=$(jq -r '[.findings[] | select(.named and .kind == "persistent") | .rank] | @csv' "$TMP/report")
        for run in full part; do "$RINGSCOPE" whatif --json --take-out "rank $who" "$TMP/$run" | jq '.cases[0]' >"$TMP/$run.case"; done
        jq -nr --arg what "$work $seed" --arg who "$who" --arg named "$named" --slurpfile f "$TMP/full.case" --slurpfile p "$TMP/part.case" \
            --slurpfile r "$TMP/report" '[$what, $who, $named, $f[0].saving_ns, $p[0].saving_ns, $p[0].saving_low_ns,
            $p[0].saving_high_ns, ($r[0].operations | .not_measured, .untimed, .count)] | map(. // "?") | @tsv' >>"$TMP/rows"
        if [ "$seed" = "$first" ]; then
            "$RINGSCOPE" info --json "$TMP/part" >"$TMP/info"
            is "$work: lost, complete" "$(jq -c '[.lost, .accounted // true]' "$TMP/info")" '[0,true]'
            inside | awk -F '\t' "$count" >>"$TMP/joined"
        fi
    done
done

awk -F '\t' '$1 < 50 { print "only " $1 " operations in windows"; bad = 1 } $2 < 0.99 * $1 { print $2 " of " $1 " joined"; bad = 1 } $3 { print $3 " ranks are missing"; bad = 1 }
    END { exit bad }' "$TMP/joined" || bad=1
awk -F '\t' -v say="${SEEDS:+1}" '
    { n++
      share += 1 - $8 / $10
      if (1 - $8 / $10 > 0.08) { print $1 ": " 1 - $8 / $10 " of the operations are in windows" ; bad = 1 }
      if ($9 > 0.01 * ($10 - $8)) { print $1 ": " $9 " operations without times that were asked for"; bad = 1 }
      if ($3 == $2) right++; else print $1 ": named " $3 ", not " $2
      d = ($5 - $4) / $4
      if (d < 0) d = -d
      if (d <= 0.2) near++; else print $1 ": " $5 ", full recording " $4
      if ($6 <= $4 && $4 <= $7) holds++; else print $1 ": [" $6 ", " $7 "], full recording " $4
      wide += ($7 - $6) / $4
    }
    END {
      if (say) printf "%d runs, %.1f %% of the operations measured: named %d, cost within 20 %% %d, interval holds %d, width %.2f of the cost\n", n, 100 * share / n, right, near, holds, wide / n
      exit bad || right < 0.95 * n || near < 0.9 * n || holds < 0.9 * n
    }' "$TMP/rows" || { bad=1; cat "$TMP/rows"; }
exit "${bad:-0}"
