#!/bin/bash
# long
# What `ringscope export --format otf2` writes, read by OTF2's own tools: tests/drive/otf2.c holds it against what readers
# rely on, otf2-print reads every record, and operations, intervals and communicators are those of `ops` and `comms`.
# shellcheck disable=SC2016 # the variables are jq's
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
data=$root/tests/data
bad=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

if ! "$RINGSCOPE" --version | grep -Eq 'otf2 +on'; then
    echo "built without OTF2"
    exit 77
fi
# OTF2's readers hold all locations of an archive open at once, and the usual 1024 are not enough for the largest here.
ulimit -Sn 4096 2>/dev/null || ulimit -Sn "$(ulimit -Hn)"
fail() {
    echo "$*"
    bad=1
}
is() { # WHAT GOT WANTED
    [ "$2" = "$3" ] || fail "$1: $2, not $3"
}
# Numbers of ns as texts: jq's numbers are not exact to the ns.
exact() { sed -E 's/("[a-z_]*_ns"):(-?[0-9]+)/\1:"\2"/g'; }
count() { jq "$1" <counts.json; } # a key of what tests/drive/otf2.c counted
ops() { jq -s "$1" <ops.jsonl; }
records() { grep -c "^$1 " print.txt; }

# check NAME INPUT...: exports it to the folder NAME and compares all that can be.
check() {
    local name=$1 known
    shift
    "$RINGSCOPE" export --format otf2 "$@" -o "$name" >out.txt 2>err.txt || {
        fail "$name: $(head -n 3 err.txt)"
        return
    }
    "$BUILD/tests/otf2" "$name/traces.otf2" >seen.jsonl 2>err.txt || fail "$name: $(head -n 5 err.txt)"
    tail -n 1 seen.jsonl >counts.json
    "$RINGSCOPE" ops --json "$@" 2>err.txt | exact >ops.jsonl
    # Every part of every operation, where it has a time at all; those whose times are known, to the ns.
    is "$name: parts" "$(count .parts)" "$(ops '[.[] | select(.kind != "fanout") | .ranks[]
        | select(.start_ns // .launched_ns // .enqueued_ns)] | length')"
    exact <seen.jsonl | jq -r 'select(.op) | "\(.op) \(.start_ns) \(.end_ns)"' | sort >has.txt
    jq -r 'select(.kind != "fanout") | .op as $op | .ranks[] | select(.start_ns and .end_ns)
        | "\($op) \(.start_ns) \(.end_ns)"' <ops.jsonl | sort >wants.txt
    known=$(wc -l <wants.txt)
    is "$name: intervals of $known that differ" "$(comm -13 has.txt wants.txt | wc -l)" 0
    # Messages are pairs with both ends; waits are claimed where clocks tell them.
    is "$name: messages" "$(count .messages)" "$(ops '[.[] | select(.kind == "pair" and (.ranks | length) == 2)] | length')"
    is "$name: bytes of messages" "$(count .message_bytes)" \
        "$(ops '[.[] | select(.kind == "pair" and (.ranks | length) == 2) | .bytes] | add // 0')"
    # A proxy's start is none beside another rank's kernel start.
    is "$name: starts not known" "$(count .start_unknown)" "$(ops '[.[] | select(.kind != "fanout")
        | any(.ranks[]; .start_source == "kernel") as $kernels | .ranks[]
        | select(.start_ns // .launched_ns // .enqueued_ns)
        | select(.start_ns == null or ($kernels and .start_source != "kernel"))] | length')"
    # otf2-print reads all of it, without a word.
    otf2-print "$name/traces.otf2" >print.txt 2>err.txt || fail "$name: otf2-print: $(head -n 3 err.txt)"
    is "$name: otf2-print complains" "$(cat err.txt)" ""
    is "$name: regions printed" "$(records ENTER) $(records LEAVE)" "$(count .regions_entered) $(count .regions_entered)"
    is "$name: collectives printed" "$(($(records MPI_COLLECTIVE_END) + $(records NON_BLOCKING_COLLECTIVE_COMPLETE)))" \
        "$(count .collectives)"
    is "$name: sends printed" "$(($(records MPI_SEND) + $(records MPI_ISEND)))" "$(count .messages)"
    is "$name: receives printed" "$(($(records MPI_RECV) + $(records MPI_IRECV)))" "$(count .messages)"
    # Messages have the id of their operation on both sides: that of the region, or of the request.
    awk '$1 == "ENTER" || $1 == "MPI_ISEND" || $1 == "MPI_IRECV_REQUEST" { kind = $1; at = $2; request = $0; sub(/.*Request: /, "", request); sub(/[^0-9].*/, "", request); next }
        /ADDITIONAL ATTRIBUTES/ && kind != "" {
            id = match($0, /"operation" <[0-9]+>; UINT64; [0-9]+/) ? substr($0, RSTART, RLENGTH) : ""
            sub(/.* /, "", id)
            if (kind == "ENTER") region[at] = id
            if (kind == "MPI_ISEND") print "sent", id
            if (kind == "MPI_IRECV_REQUEST") requests[at, request] = id
        }
        { kind = "" }
        $1 == "MPI_SEND" { print "sent", region[$2] }
        $1 == "MPI_RECV" { print "received", region[$2] }
        $1 == "MPI_IRECV" { request = $0; sub(/.*Request: /, "", request); sub(/[^0-9].*/, "", request); print "received", requests[$2, request] }' print.txt |
        while read -r side id; do printf '%s 0x%016x\n' "$side" "$id"; done | sort >has.txt
    jq -r 'select(.kind == "pair" and (.ranks | length) == 2) | "sent \(.op)", "received \(.op)"' <ops.jsonl | sort >wants.txt
    is "$name: ids of messages" "$(diff has.txt wants.txt | head -n 4)" ""
    is "$name: metrics printed" "$(records METRIC)" "$(count .metrics)"
    # Communicators with their parents, as `comms` has them; those that are duplicates aside.
    jq -r 'select(.comm and (.comm | test(", (overlapping|grouped)") | not)) | "\(.comm[:18]) \((.parent // "null")[:18])"' \
        <seen.jsonl | sort >has.txt
    "$RINGSCOPE" comms --json "$@" 2>/dev/null | jq -r '"\(.comm) \(.parent.comm)"' | sort >wants.txt
    is "$name: communicators" "$(cat has.txt)" "$(cat wants.txt)"
}
whole() { # WHAT: all collectives of a run that has all its ranks are records
    is "$1: collectives" "$(count .collectives)" "$(ops '[.[] | select(.kind == "coll" or .kind == "ce" or .kind == "api")
        | .ranks[]] | length')"
}
# sizes NAME: what ranks put in and get out of each kind of collective, over all of them.
sums() {
    awk -v kind="$1" -v side="$2" '$1 == "MPI_COLLECTIVE_END" && $5 == kind "," {
        match($0, side ": [0-9]+"); sum += substr($0, RSTART + length(side) + 2, RLENGTH - length(side) - 2) }
        END { print sum + 0 }' print.txt
}

# ---- real recordings: collectives that overlap, all-to-alls, a graph, splits ----
check mix "$data/h200-mix"
whole mix
is "mix: waits" "$(count .wait_ns)" "$(ops '[.[] | select(.kind != "fanout" and .wait_source == "clocks") | (.error_ns | tonumber) as $error
    | .ranks[] | select(.start_ns) | .wait_ns // 0 | tonumber | select(. >= 2 * $error)] | add')"
is "mix: rows that are left out" "$(otf2-print -I mix/traces.otf2 | grep -A 1 RINGSCOPE::ROWS_LEFT_OUT | sed -n 's/^Property value *//p')" "steps,network"
# As `info` counts events: a region each.
"$RINGSCOPE" info --json "$data/h200-mix" >info.json
is "mix: parts as in info" "$(count .parts)" "$(jq '.events | .Coll + .P2p' info.json)"
is "mix: messages as in info" "$(count .messages)" "$(jq '.events.P2p / 2' info.json)"
entered() { grep -Ec "^ENTER .*Region: \"($1)\"" print.txt; }
is "mix: proxy operations" "$(entered 'proxy send|proxy receive')" "$(jq .events.ProxyOp info.json)"
is "mix: GPU channels" "$(entered channel)" "$(jq .events.KernelCh info.json)"
is "mix: launches" "$(entered 'kernel launch')" "$(jq .events.KernelLaunch info.json)"
is "mix: group calls" "$(entered 'group call')" "$(jq .events.GroupApi info.json)"
# Profiles by region name: the operation and the host call that started it have different names.
is "mix: names of several regions" "$(otf2-print -G mix/traces.otf2 | sed -n 's/^REGION .* Name: "\([^"]*\)".*/\1/p' | sort | uniq -d)" ""
is "mix: calls" "$(entered 'nccl[A-Z][A-Za-z]*')" "$(jq '.events | .CollApi + .P2pApi' info.json)"
# Other tools of OTF2 read it: states in the middle of the run, and markers.
cp -r mix copy
otf2-snapshots -n 4 copy/traces.otf2 >out.txt 2>err.txt || fail "otf2-snapshots: $(head -n 3 err.txt)"
is "otf2-snapshots complains" "$(cat err.txt)" ""
is "otf2-snapshots: locations with a state" "$(find copy -name '*.snap' | wc -l)" "$(count .locations)"
otf2-marker --add-def ringscope last HIGH mix/traces.otf2 >out.txt 2>&1
otf2-marker --add ringscope last 1794711681451001543 GLOBAL "the first" mix/traces.otf2 >>out.txt 2>&1
"$RINGSCOPE" export --format otf2 --force --func Broadcast "$data/h200-mix" -o copy >out.txt 2>&1 || fail "what otf2-snapshots added is in the way: $(cat out.txt)"
is "otf2-marker: the mark" "$(otf2-marker mix/traces.otf2 2>&1 | grep -c 'the first')" 1
is "mix: a duplicate for what overlaps" "$(jq -r 'select(.comm == "0x02e31744eee5f1e8 world, overlapping 1")
    | "\(.parent) \(.members)"' <seen.jsonl)" "0x02e31744eee5f1e8 world 4"
of() { ops "[.[] | select(.kind == \"coll\" and .func == \"$1\") | .bytes $2] | add"; }
is "mix: all-reduces put in" "$(sums ALLREDUCE Sent)" "$(of AllReduce '* (.ranks | length)')"
is "mix: all-reduces get out" "$(sums ALLREDUCE Received)" "$(of AllReduce '* (.ranks | length)')"
is "mix: all-gathers put in" "$(sums ALLGATHER Sent)" "$(of AllGather '')"
is "mix: all-gathers get out" "$(sums ALLGATHER Received)" "$(of AllGather '* (.ranks | length)')"
is "mix: reduce-scatters put in" "$(sums REDUCE_SCATTER_BLOCK Sent)" "$(of ReduceScatter '* (.ranks | length)')"
is "mix: reduce-scatters get out" "$(sums REDUCE_SCATTER_BLOCK Received)" "$(of ReduceScatter '')"
is "mix: broadcasts put in" "$(sums BCAST Sent)" "$(of Broadcast '')"
is "mix: broadcasts get out" "$(sums BCAST Received)" "$(of Broadcast '* 3')"
is "mix: roots" "$(grep -o 'Operation: BCAST.*Root: [0-9]*' print.txt | grep -o '[0-9]*$' | sort)" \
    "$(jq -r 'select(.func == "Broadcast") | .root as $root | .ranks[] | $root' <ops.jsonl | sort)"
otf2-print -G mix/traces.otf2 >print.txt
is "mix: what it is" "$(otf2-print -I mix/traces.otf2 2>/dev/null | sed -nE 's/^(Machine name|Description) +(.*)/\2/p' | sort | paste -sd '|')" "h200-mix: 4 ranks|vm"
is "mix: paradigms" "$(sed -nE 's/^PARADIGM +[0-9]+ +(.*)/\1/p' print.txt | sed 's/ <[0-9]*>//' | paste -sd '|')" \
    'MPI, Name: "NCCL", Class: PROCESS|CUDA, Name: "CUDA", Class: ACCELERATOR'
is "mix: processes" "$(grep -c '^LOCATION_GROUP .*Type: PROCESS' print.txt)" 4
is "mix: hosts" "$(grep -c '^SYSTEM_TREE_NODE .*Class: "host"' print.txt)" 1
is "mix: clock" "$(grep -c '^CLOCK_PROPERTIES .*Ticks per Seconds: 1000000000,.*Date: 2026-11-15' print.txt)" 1
is "mix: locations without a clock error" "$(($(grep -c '^LOCATION ' print.txt) - $(grep -c '^LOCATION_PROPERTY .*clock error' print.txt)))" 0
check ddp "$data/h200-ddp"
whole ddp
check torch "$data/kineto"

# ---- made runs: several hosts, all-to-alls of many ranks, losses, a rank without a recording ----
gen() { "$RINGSCOPE" gen -f "$@" >/dev/null || fail "gen $*"; }
gen -w pipeline -n 8 --hosts 2 --steps 2 -o run
check pipeline run
whole pipeline
gen -w alltoall -n 24 --hosts 2 --steps 1 -o run
check alltoall run
whole alltoall
[ "$(records MPI_ISEND)" -gt 0 ] || fail "alltoall: nothing is non-blocking"
gen -w mix -n 8 --hosts 2 --steps 3 --drop 0.2 -o run
check lossy run
gen -w tpdp -n 8 --hosts 2 --steps 2 --no-recording 1 -o run
check absent run
is "absent: the rank that is not recorded has a place" "$(otf2-print -G absent/traces.otf2 |
    grep -c '^LOCATION .*"rank 1 (not recorded)".*# Events: 0')" 1
is "absent: members" "$(jq -s '[.[] | select(.comm) | .members] | max' <seen.jsonl)" 8

# A rank of a large job: those that are not recorded are many, and do not get two files each.
ranks=$(seq -s ', ' 0 2999)
cat >one.json <<J
{"distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 3000}, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 1, "dur": 5, "args": {"External id": 1, "Collective name": "allreduce",
    "In msg nelems": 4, "Out msg nelems": 4, "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[$ranks]", "Group size": 3000, "Seq": 1}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "pid": 0, "tid": 7, "ts": 10, "dur": 5, "args": {"External id": 1, "device": 0, "stream": 7}}]}
J
"$RINGSCOPE" export --format otf2 one.json -o large 2>err.txt || fail "large: $(cat err.txt)"
"$BUILD/tests/otf2" large/traces.otf2 >seen.jsonl 2>err.txt || fail "large: $(cat err.txt)"
is "large: members" "$(jq 'select(.comm) | .members' seen.jsonl)" 3000
[ "$(find large | wc -l)" -lt 1100 ] || fail "large: $(find large | wc -l) files"

# ---- filters, and how it fails ----
"$RINGSCOPE" export --format otf2 --func Broadcast "$data/h200-mix" -o few 2>err.txt || fail "few: $(cat err.txt)"
"$BUILD/tests/otf2" few/traces.otf2 >seen.jsonl 2>err.txt || fail "few: $(cat err.txt)"
is "few: parts" "$(tail -n 1 seen.jsonl | jq .parts)" "$("$RINGSCOPE" ops --json --func Broadcast "$data/h200-mix" |
    jq -s '[.[].ranks[]] | length')"
"$RINGSCOPE" export --format otf2 --rank 0,2 "$data/h200-mix" -o two 2>err.txt || fail "two: $(cat err.txt)"
"$BUILD/tests/otf2" two/traces.otf2 >seen.jsonl 2>err.txt || fail "two: $(cat err.txt)"
is "two: ranks that filters leave out were recorded" "$(otf2-print -G two/traces.otf2 | grep '^LOCATION ' | grep -o '"rank [0-9]* ([a-z ]*)"' | sort -u | paste -sd ' ')" \
    '"rank 1 (left out)" "rank 3 (left out)"'
"$RINGSCOPE" export --format otf2 "$data/h200-mix" -o few >out.txt 2>err.txt && fail "few: overwritten"
"$RINGSCOPE" export --format otf2 --force "$data/h200-ddp" -o few 2>err.txt || fail "few: not overwritten: $(cat err.txt)"
is "few: another run" "$("$BUILD/tests/otf2" few/traces.otf2 | tail -n 1 | jq .messages)" 0
ls -A >before.txt
(
    ulimit -f 4 # of 1 KiB
    "$RINGSCOPE" export --format otf2 "$data/h200-mix" -o full >out.txt 2>err.txt
) && fail "full: no failure"
grep -q 'full: .*OTF2' err.txt || fail "full: $(cat err.txt)"
is "full: files left" "$(ls -A)" "$(cat before.txt)"
exit $bad
