#!/bin/bash
# The second reading: every event of every process once, with its parent and its operation. tests/drive/events.c holds
# each run against what the first reading says; here its counts are held against the simulator's truth, for all
# workloads, all versions of the interface, PXN, the network plugins and copy engines; and real recordings and dumps.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data
export NCCL_PROFILER_PLUGIN=$PLUGIN

events() { "$BUILD/tests/events" "$@"; }
# check NAME FOLDER: what the driver finds by itself, and the counts of `info`.
check() {
    events "$2" >"$TMP/said" || { echo "$1:" && cat "$TMP/said" && bad=1; }
    events --list "$2" >"$TMP/list" || bad=1
    is "$1: events by type" "$(jq -cs 'group_by(.type) | map({key: .[0].type, value: length}) | from_entries' "$TMP/list")" \
        "$("$RINGSCOPE" info --json "$2" 2>"$TMP/err" | jq -cS .events)"
}
# of NAME OPTION...: a job of the simulator; the truth has how many of each type every process sent.
of() {
    local name=$1 run=$TMP/$1
    shift
    "$RINGSCOPE" sim --speed 20 --events all "$@" --truth "$run.truth" -o "$run" >"$TMP/err" 2>&1 || { cat "$TMP/err" && bad=1; }
    check "$name" "$run"
    is "$name: starts by process" "$(jq -cSs 'group_by(.pid) | map({pid: .[0].pid, starts: group_by(.type)
        | map({key: .[0].type, value: length}) | from_entries})' "$TMP/list")" \
        "$(jq -cSs 'map(select(.kind == "process") | {pid, starts: (.starts | with_entries(select(.value > 0)))})
        | sort_by(.pid)' "$run.truth")"
}

for workload in ddp pipeline alltoall aggregate split graph ring five; do of "$workload" -w "$workload" --hosts 2 --steps 2; done
# The tree of a replay has that replay alone, under the call that was captured.
id=$("$RINGSCOPE" ops --json "$TMP/graph" 2>"$TMP/err" | jq -rs "[.[] | select(.replay == 1)][0].op")
is "graph: operations of a replay's tree, by process" "$("$RINGSCOPE" ops --op "$id" --tree --json "$TMP/graph" 2>"$TMP/err" |
    jq -cs "map(select(.type == \"Coll\" or .type == \"CollApi\")) | group_by(.pid) | map(map(.type) | sort) | unique")" '[["Coll","CollApi"]]'
of multidev -w multidev --ranks-per-process 2 --hosts 2 --steps 2
for api in 1 2 3 4 5 7; do of "v$api" -w mix --api "$api" --hosts 2 --steps 2 --net socket; done
of ce --ce --steps 2
is "ce: copies without an operation" "$(jq -s '[.[] | select(.type | startswith("Ce")) | select(.part_event == null)] | length' "$TMP/list")" 0
is "ce: there are some" "$(jq -s '[.[].type | select(startswith("Ce"))] | unique | join(" ")' "$TMP/list")" '"CeBatch CeColl CeSync"'

# PXN: work for a neighbour is of the neighbour's operation, all the way down to the wire.
of pxn --pxn --net ib --hosts 2 --steps 2
is "pxn: network without an operation" \
    "$(jq -s '[.[] | select(.type | IN("ProxyOp", "ProxyStep", "NetPlugin")) | select(.part_event == null)] | length' "$TMP/list")" 0
is "pxn: others' operations" "$(jq -s '[.[] | select(.part_pid != null and .part_pid != .pid) | .type] | unique | join(" ")' "$TMP/list")" \
    '"NetPlugin ProxyOp ProxyStep"'
is "pxn: sends of others by the parent's handle" "$(jq -s '[.[] | select(.type == "ProxyOp" and .part_pid != .pid)
    | select(.is_send != 1 or .parent != null or .parent_event != .part_event)] | length' "$TMP/list")" 0

# A hang: what is open is there, and named so.
"$RINGSCOPE" sim --speed 20 --events all --hosts 2 --hang 2@2 --hang-seconds 2 -o "$TMP/hang" >"$TMP/err" 2>&1
check hang "$TMP/hang"
is "hang: open steps wait" "$(jq -s '[.[] | select(.open and .type == "ProxyStep")] | length > 0 and all(.end_ns == null and .states > 0)' "$TMP/list")" true

# Lost, overwritten and damaged ones.
"$RINGSCOPE" gen --drop 0.05 --ring 1:65536 --steps 60 -o "$TMP/lossy" >"$TMP/err" 2>&1
events "$TMP/lossy" >"$TMP/said" || { cat "$TMP/said" && bad=1; }

# Real ones, and dumps of the example profiler: the same job as both has the same operations.
for folder in h200-mix h200-ddp; do check "$folder" "$data/$folder"; done
for dump in ddp4 oneprocess4 ring4; do events "$data/example/$dump" >"$TMP/said" || { cat "$TMP/said" && bad=1; }; done
is "h200-mix: stale ones have no GPU times" "$(events --list "$data/h200-mix" | jq -s '[.[] | select(.stale)]
    | length > 0 and all(.gpu_start_ns == null and .gpu_end_ns == null)')" true
exit $bad
