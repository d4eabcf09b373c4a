#!/bin/bash
# long
# All commands say the same of the same run: how many operations, ties and ranks, which clock error, where time begins, how
# long ranks waited; and what one prints another accepts. Over every input in tests/data, and over what is given:
#
#   tests/system/consistent.sh [DIR|"DIR DIR..."]...
#
# Inputs in one argument are read together. The data of the page are held against `report` and `ops` by
# viewer/test/recorded.test.ts.
set -u
here=$(cd "$(dirname "$0")" && pwd)
data=$here/../data
: "${TMP:=$(mktemp -d)}"
bad=0 sets=0

say() { # of the set at hand
    echo "$name: $1"
    bad=1
}

# held IN...: runs every command and compares.
held() {
    local sets_before=$bad at op until span
    cd "$TMP" || exit 1
    rm -f ./*.json ./*.text
    # With the start-up, as the commands that list operations.
    "$RINGSCOPE" report --json --warmup 0 "$@" >report.json 2>err.text || { [ -s err.text ] && return; }
    [ -s report.json ] || return
    "$RINGSCOPE" report --warmup 0 "$@" 2>/dev/null | sed "1,/^$/d" >report.text # without the conclusion
    "$RINGSCOPE" ops --json "$@" >ops.json 2>/dev/null
    "$RINGSCOPE" ops "$@" >ops.text 2>/dev/null
    "$RINGSCOPE" comms --json "$@" >comms.json 2>/dev/null
    "$RINGSCOPE" comms "$@" >comms.text 2>/dev/null
    "$RINGSCOPE" clocks --json "$@" >clocks.json 2>/dev/null
    "$RINGSCOPE" clocks "$@" >clocks.text 2>/dev/null
    "$RINGSCOPE" critical --json "$@" >critical.json 2>/dev/null
    "$RINGSCOPE" critical "$@" >critical.text 2>/dev/null
    "$RINGSCOPE" info --json "$@" >info.json 2>/dev/null
    "$RINGSCOPE" info "$@" >info.text 2>/dev/null
    "$RINGSCOPE" view --text --width 120 --from 0s --to 1000000s "$@" >view.text 2>/dev/null
    "$RINGSCOPE" export --format chrome --rows operations "$@" 2>/dev/null | head -c 100000 >chrome.head
    printf '{"t0_ns":%s,"operations":%s,"ties":%s,"error_ns":%s}\n' \
        "$(field t0_ns)" "$(field operations)" "$(field ties)" "$(field compare_error_ns)" >chrome.json
    "$RINGSCOPE" sql --json "$@" "select max(case when key = 't0_ns' then value end) t0_ns,
        max(case when key = 'to_ns' then value end) to_ns, max(case when key = 'compare_error_ns' then value end) error_ns,
        (select count(*) from operations where fanout_id is null) operations,
        (select count(*) from operations where fanout_id is null and tie) ties,
        max(case when key = 'compared' then value end) compared,
        (select total(wait_ns) from operation_ranks p join operations o on o.id = p.operation_id where fanout_id is null)
            waits from meta" >sql.json 2>/dev/null
    jq -nr --slurpfile report report.json --slurpfile ops ops.json --slurpfile comms comms.json \
        --slurpfile clocks clocks.json --slurpfile critical critical.json --slurpfile info info.json \
        --slurpfile sql sql.json --slurpfile chrome chrome.json --rawfile report_text report.text \
        --rawfile ops_text ops.text --rawfile comms_text comms.text --rawfile clocks_text clocks.text \
        --rawfile critical_text critical.text --rawfile info_text info.text --rawfile view_text view.text \
        -f "$here/consistent.jq" >said.text 2>&1 || say "jq could not compare: $(tail -n 1 said.text)"
    if [ -s said.text ]; then
        sed "s|^|$name: |" said.text | head -n "${MOST:-12}"
        bad=1
    fi
    # What `ops` prints as the time of an operation selects it, in every command that takes times.
    while read -r at op; do
        until=$(awk -v at="${at%s}" 'BEGIN { printf "%.6fs", at + 0.000001 }')
        "$RINGSCOPE" ops --json --from "$at" --to "$until" "$@" 2>/dev/null | grep -q "\"op\":\"$op" ||
            say "ops --from $at --to $until does not show $op, which ops prints there"
        "$RINGSCOPE" report --json --from "$at" --to "$until" "$@" 2>/dev/null | jq -e '.operations.count > 0' >/dev/null ||
            say "report --from $at --to $until has no operation, though $op begins there"
    done < <(jq -r 'select(.fanout) | .op[0:14]' ops.json | grep -v -F -f - ops.text |
        awk '$1 ~ /^[0-9]+[.][0-9]+s$/ && $2 ~ /^0x/ { line[++n] = $1 " " $2 }
            END { if (n) print line[1]; if (n > 2) print line[int(n / 2)]; if (n > 1) print line[n] }')
    # So does what `report` prints as the time of a step that took longer.
    while read -r at span; do
        until=$(awk -v at="$at" -v span="$span" 'function ns(t) { return t ~ /ms$/ ? t * 1e6 : t ~ /us$/ ? t * 1e3 : t * 1e9 }
            BEGIN { printf "%.6fs", (ns(at) + ns(span)) / 1e9 }')
        "$RINGSCOPE" ops --json --from "$at" --to "$until" "$@" 2>/dev/null | grep -q . ||
            say "no operation from $at to $until, where report sees a step"
    done < <(sed -n '/^step  *at /,/^$/p' report.text | sed -E 's/([0-9]) (ns|us|ms|s)\b/\1\2/g' |
        awk '$1 ~ /^[0-9]+$/ { print $2, $3; if (++n == 2) exit }')
    sets=$((sets + 1))
    [ "$bad" = "$sets_before" ] || cp report.text "$TMP/failed.text"
}

# A number in the head of a Chrome trace; null where there is none.
field() {
    grep -o "\"$1\":\"\?-\?[0-9]\+" chrome.head | head -n 1 | grep -o -- '-\?[0-9]\+$' || echo null
}

if [ $# -gt 0 ]; then
    for name in "$@"; do
        read -ra paths <<<"$name"
        for i in "${!paths[@]}"; do paths[i]=$(realpath "${paths[i]}"); done
        held "${paths[@]}"
    done
else
    "$RINGSCOPE" gen --ranks 8 --hosts 2 --steps 6 --clock-offset 3000 -o "$TMP/generated" >/dev/null
    "$RINGSCOPE" gen --workload mix --ranks 8 --hosts 4 --steps 3 -o "$TMP/mix" >/dev/null
    for name in generated mix; do held "$TMP/$name"; done
    for path in "$data"/h200-* "$data"/sim-* "$data"/{kineto,comma,ncclsee,jax} "$data"/{nsys,inspector,nvprof,nccl_tests}/* "$data"/ras/{pair-first.json,asleep-2.28.txt} \
        "$data"/example/*4 "$data"/flight/{ddp4,hang-not-joined,hang-send} "$data"/h200-overlay/{rec,kineto,flight}; do
        name=${path#"$data"/}
        [ "$name" = h200-overlay ] || held "$path"
    done
    name="h200-overlay, merged"
    held "$data"/h200-overlay/{rec,kineto,flight}
fi
[ "$sets" -gt 0 ] || { echo "nothing was compared" && bad=1; }
echo "$sets inputs"
exit $bad
