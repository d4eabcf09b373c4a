#!/bin/bash
# What the timeline draws, bar by bar (tests/drive/bars.c), against `ops --json` and against the truth of the simulator
# and the generator: all versions of the interface, PXN, network plugins, copy engines, phases of kernels, several GPUs
# in a process, hangs, aborts, losses.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
export NCCL_PROFILER_PLUGIN=$PLUGIN

short() { sed -E 's/_ns":[0-9]{4}([0-9]{15})/_ns":1\1/g'; } # jq counts in doubles
list() { jq "$@" "$TMP/bars"; }

# Operations against `ops --json`: each part that has a time is one bar, of its start, its end or its bounds; a wait is
# shaded from twice the clock error on; who was last is said where the clocks tell it.
# shellcheck disable=SC2016 # the variables are jq's
compare='
    def has($flag): .flags | index($flag) != null;
    ($bars | map(select(.row == "operations" and (has("lost") or has("blank") | not)))) as $drawn
    | ($drawn | group_by(.op) | map({key: .[0].op, value: .}) | from_entries) as $of
    | [.[] | select(.kind != "fanout")] as $ops
    | ($ops | map(.ranks[] | select(.start_ns or .launched_ns or .enqueued_ns) | .parts // 1) | add // 0) as $parts
    | (if $parts == ($drawn | length) then empty else "\($drawn | length) bars of \($parts) parts" end),
      ($ops[] as $op | any($op.ranks[]; .start_source == "kernel") as $kernels
        | $op.ranks[] | select((.parts // 1) == 1 and .start_ns) as $r
        | ($of[$op.op] // [] | map(select(.pid == $r.pid and .rank == $r.rank))) as $found | $found[0] as $b
        | if ($found | length) != 1 then "\($found | length) bars" else
            (if $kernels and $r.start_source != "kernel" then
                (if $b | has("start unknown") then empty else "a start that is not the kernel'"'"'s" end)
             else
                (if $b | has("start unknown") then "start unknown" else empty end),
                (if $b.start_ns != $r.start_ns then "starts \($b.start_ns - $r.start_ns) ns off" else empty end),
                (if $r.end_ns and ($r.end_early | not) and $b.dur != $r.end_ns - $r.start_ns then "length \($b.dur)" else empty end)
             end),
            (($r.end_ns != null and ($r.end_early | not)) as $ended
                | if $ended == ($b | has("bounded") or has("open")) then "ended \($ended), flags \($b.flags)" else empty end),
            (if $r.end_before_ns and $b.start_ns + $b.dur + $b.fade != $r.end_before_ns then "upper bound" else empty end),
            (if $r.open and ($r.end_before_ns | not) and ($b | has("open") | not) then "not open" else empty end),
            # Where a rank never came, those that are in it wait to the end.
            (if $op.missing != [] and ($b | has("open")) and ($b | has("start unknown") | not) then $b.dur
             elif $op.error_ns and ($r.wait_ns // 0) > 0 and $r.wait_ns >= 2 * $op.error_ns then [$r.wait_ns, $b.dur] | min else 0 end) as $wait
            | (if $b.wait != $wait then "wait \($b.wait), not \($wait), clocks err by \($op.error_ns)" else empty end),
              (($op.last_rank == $r.rank and ($op.tie | not) and $op.error_ns != null and $op.missing + $op.not_recorded == []) as $last
                | if ($b | has("last")) != $last then "last: \($b | has("last")), not \($last)" else empty end)
          end
        | "\($op.func) \($op.op) of rank \($r.rank): \(.)")'
# Parents are bars, of the same process and of the same operation, and what is measured on one clock lies inside.
# shellcheck disable=SC2016
parents='(map({key: "\(.bar)", value: .}) | from_entries) as $by
    | .[] | select(.parent != null) as $b | $by["\($b.parent)"] as $p
    | (if $p == null then "none" elif $p.pid != $b.pid then "of another process"
       elif $p.op != null and $p.op != $b.op then "of another operation"
       elif ($b.row | IN("steps", "network", "ce")) or $b.kind == "KernelPhase" then
            if $p.row == "calls" or ($p.flags | index("bounded")) or ($b.start_ns >= $p.start_ns and $b.start_ns + $b.dur <= $p.start_ns + $p.dur) then empty
            else "does not enclose it" end
       else empty end)
    | "the parent of \($b.kind) \($b.bar): \(.)"'

check() { # NAME FOLDER
    "$BUILD/tests/bars" "$2" 2>"$TMP/err" | short >"$TMP/bars" || { cat "$TMP/err" && bad=1; }
    "$RINGSCOPE" ops --json "$2" 2>"$TMP/err" | short >"$TMP/ops" || { cat "$TMP/err" && bad=1; }
    [ -s "$TMP/bars" ] || { echo "$1: nothing is drawn" && bad=1; }
    jq -s . "$TMP/bars" >"$TMP/all"
    jq -rs --argfile bars "$TMP/all" "$compare" "$TMP/ops" >"$TMP/wrong" || bad=1
    jq -r "$parents" "$TMP/all" >>"$TMP/wrong" || bad=1
    [ ! -s "$TMP/wrong" ] || { echo "$1: $(wc -l <"$TMP/wrong") wrong:" && head -n 5 "$TMP/wrong" && bad=1; }
}
# sim NAME OPTION...: also as many bars of each type of event as were sent.
sim() {
    local name=$1 run=$TMP/$1
    shift
    "$RINGSCOPE" sim --speed 20 --steps 2 --events all "$@" --truth "$run.truth" -o "$run" >"$TMP/err" 2>&1 || { cat "$TMP/err" && bad=1; }
    check "$name" "$run"
    is "$name: bars by type" "$(jq -cs '[.[] | select(.row != "operations" and .kind != "enqueued") | .kind | sub(" .*"; "") | sub("(?<c>ProxyCtrl).*"; "\(.c)")]
        | group_by(.) | map({key: .[0], value: length}) | from_entries' "$TMP/bars")" \
        "$(jq -cs '[.[] | select(.kind == "process") | .starts | to_entries[] | select(.value > 0 and (.key | IN("Coll", "P2p") | not))]
        | group_by(.key) | map({key: .[0].key, value: (map(.value) | add)}) | from_entries' "$run.truth")"
}
gen() { # NAME OPTION...
    local name=$1
    shift
    "$RINGSCOPE" gen -n 8 --steps 5 "$@" -o "$TMP/$name" >"$TMP/err" || { cat "$TMP/err" && bad=1; }
    check "$name" "$TMP/$name"
}

for api in 1 3 7; do sim api$api -w mix --hosts 2 --api $api --net socket; done
[ -n "${SMALL_SHM:-}" ] || [ "$(list -s '[.[] | select(.kind == "KernelPhase")] | length')" -gt 0 ] || { echo "api 7: no phases" && bad=1; }
sim ib -w ring --hosts 2 --net ib
sim ce --ce --api 7
[ "$(list -s '[.[] | select(.row == "ce" and .op == null)] | length')" = 0 ] || { echo "ce: without an operation" && bad=1; }
# Short runs of several GPUs in a process: clocks that are worse than the waits.
sim multidev -w multidev --ranks-per-process 2
# The helper's proxy operations are on lanes of its process, and are those of operations that were helped.
sim pxn -w mix --hosts 2 --pxn --net ib -n 8
is "pxn: operations helped" "$(list -cs '[.[] | select(.row == "operations" and (.flags | index("helped"))) | .op] | unique')" \
    "$(list -cs '[.[] | select(.row == "proxy" and (.lane | endswith("for another process"))) | .op] | unique')"
is "pxn: of another process, without their operation" "$(list -s '[.[] | select(.row != "operations" and (.lane | endswith("for another process")) and .op == null)] | length')" 0

# A hang: what waits is open, to the end of its recording.
sim hang --hosts 2 --hang 2@1 --hang-seconds 2
# Who came last is not known: rank 2 did not. The others wait for it, to the end of their recordings: nothing is a transfer.
is "hang: wait" "$(list -cs '[.[] | select(.row == "operations" and .flags == ["open"]) | .wait == .dur] | unique')" '[true]'
is "hang: ranks in an open operation that began" "$(list -cs '[.[] | select(.row == "operations" and (.flags == ["open"])) | .global_rank] | sort')" '[0,1,3]'
# Aborted: kernels are over when their communicator is, as their operations are; nothing is open.
sim abort --abort 1@1
is "abort: open kernels" "$(list -s '[.[] | select(.row == "channels" and (.flags | index("open")))] | length')" 0

gen mix -w mix
gen drop -w mix --drop 0.02
[ "$(list -s '[.[] | select(.flags == ["lost"])] | length')" -gt 0 ] || { echo "drop: no losses drawn" && bad=1; }
gen late --late 3@3
is "late: not recorded" "$(list -cs '[.[] | select(.flags == ["blank"]) | [.global_rank, .level]]')" '[[3,2]]'
gen mismatch --mismatch 3@2
is "mismatch" "$(list -cs '[.[] | select(.row == "operations" and (.flags | index("mismatch"))) | .global_rank]')" '[3]'
# Its proxy thread began, its kernel did not: it is not drawn as the first that came.
gen blocked --hang stream-blocked:3@3
is "stream-blocked: the start of rank 3" "$(list -cs '[.[] | select(.row == "operations" and .global_rank == 3 and (.flags | index("open"))) | .flags] | unique')" \
    '[["open","start unknown"]]'
is "stream-blocked: the others wait" "$(list -s '[.[] | select(.row == "operations" and .flags == ["open"]) | .global_rank] | unique | length')" 7
exit $bad
