#!/bin/bash
# Detail in windows, recorded by the real plugin: windows are at the same time in all processes, what is in them is
# complete on all ranks, outside only calls, launches and operations are recorded, nothing is lost, and a pause opens a
# window. `run` and the control file pass the setting on.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
rec=$TMP/rec

if [ -n "${SMALL_SHM:-}" ]; then
    echo "needs 256 MiB of /dev/shm, for KernelCh"
    exit 77
fi

"$RINGSCOPE" sim -n 4 --hosts 2 --steps 150 --speed 2 --detail 150ms:600ms -o "$rec" >"$TMP/log" 2>&1 || { cat "$TMP/log"; exit 1; }
"$RINGSCOPE" info --json "$rec" >"$TMP/info" || exit 1
is "lost, overwritten, damaged" "$(jq -c '[.lost, .overwritten, .damaged]' "$TMP/info")" '[0,0,0]'
is "some of the time has detail" "$(jq '.detail_share > 0.02 and .detail_share < 0.9' "$TMP/info")" true
# Calls, groups, launches and operations are always requested: 0xf07.
is "what is always requested" "$(jq '[.coverage[].mask | select((. / 256 | floor) % 16 != 15 or . % 8 != 7)] | length' "$TMP/info")" 0
is "masks with and without KernelCh" "$(jq -c '[.coverage[].mask | (. / 64 | floor) % 2] | unique' "$TMP/info")" '[0,1]'
is "as many operations as calls" "$(jq '.events | .Coll == .CollApi' "$TMP/info")" true
"$RINGSCOPE" ops --json "$rec" >"$TMP/ops"
is "missing ranks" "$(jq -s 'map(.missing[]) | length' "$TMP/ops")" 0
# Measured on all ranks or on some, at the edges; of the former nearly all are compared.
is "operations with all times are compared" "$(jq -s '[.[] | select(all(.ranks[]; .start_source == "kernel"))] as $all
    | ($all | length) > 20 and ($all | map(select(.compared)) | length) >= 0.99 * ($all | length)' "$TMP/ops")" true
"$RINGSCOPE" report --json "$rec" >"$TMP/report"
is "not measured, and few untimed" "$(jq -c '.operations | [.not_measured > 20, .untimed <= 0.01 * (.count - .not_measured)]' "$TMP/report")" '[true,true]'
is "the report says on what it rests" "$(jq '[.conclusion[] | select(test("windows of detail"))] | length' "$TMP/report")" 1

# A rank that pauses: a window opens, long before the next one of the period would.
paused() { # NAME VARIABLE SECONDS: how many windows were opened, and whether KernelCh was requested
    env "$2" RINGSCOPE_DETAIL=500ms:20h RINGSCOPE_DIR="$TMP/$1" "$BUILD/tests/drive" --mode pause --seconds "$3" --truth "$TMP/$1.truth" \
        >"$TMP/log" 2>&1 || cat "$TMP/log"
    "$RINGSCOPE" info --json "$TMP/$1" | jq -c '[.triggers > 0, any(.coverage[]; .mask / 64 | floor % 2 == 1)]'
}
is "a pause" "$(paused paused RINGSCOPE_TRIGGERS=5 120)" '[true,true]'
is "a pause, without triggers" "$(paused never RINGSCOPE_TRIGGERS=0 2)" '[false,false]'

is "run --print-env" "$("$RINGSCOPE" run --detail 200ms:10s -o "$TMP/x" --print-env | grep DETAIL)" "export RINGSCOPE_DETAIL='200ms:10s'"
"$RINGSCOPE" run --detail 1us:2s -o "$TMP/x" --print-env >"$TMP/log" 2>&1
is "a bad window" "$?" 2
exit "$bad"
