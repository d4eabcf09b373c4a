#!/bin/bash
# PyTorch profiler traces (Kineto): the four ranks of a real job join completely, the straggler is found, and the same comes
# out of traces that are written in other ways, begin later, lack operations or are cut.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data/kineto
dir=$(mktemp -d) || exit 1
trap '[ -n "${KEEP:-}" ] || rm -rf "$dir"' EXIT

ops() { "$RINGSCOPE" ops --json "$@"; }
# What the operations of an output are, with the times of all ranks.
facts() {
    jq -s -c 'map([.kind, .func, .seq, .root, .count, .dtype, .algo, .proto, .nranks, .complete, .mismatch,
        (.ranks | map([.rank, .pid, .enqueued_ns, .launched_ns, .start_ns, .end_ns]))]) | sort' "$1"
}

ops "$data" >"$dir/ops" || exit 1
is "kinds" "$(jq -s -c 'group_by([.kind, .func, .nranks]) | map([.[0].kind, .[0].func, .[0].nranks, length])' "$dir/ops")" \
    '[["coll","AllGather",4,5],["coll","AllReduce",2,10],["coll","AllReduce",4,40],["coll","AlltoAll",4,5],["fanout","SendRecv",4,5],["pair","SendRecv",4,20]]'
is "collectives that lack a rank" "$(jq -s '[.[] | select(.kind == "coll") | select((.ranks | length) != .nranks
    or .complete != true or .mismatch or .double or (.missing + .not_recorded != []))] | length' "$dir/ops")" 0
is "pairs that lack an end" "$(jq -s '[.[] | select(.kind == "pair") | select((.ranks | length) != 2 or .complete != true)] | length' "$dir/ops")" 0
is "the ring" "$(jq -s -c '[.[] | select(.kind == "pair") | (.ranks | map(.rank))] | group_by(.) | map([.[0], length])' "$dir/ops")" \
    '[[[0,1],5],[[0,3],5],[[1,2],5],[[2,3],5]]'
is "times out of order" "$(jq -s '[.[].ranks[] | [.enqueued_ns, .launched_ns, .start_ns, .end_ns]
    | map(select(. != null)) | select(. != sort)] | length' "$dir/ops")" 0
# Collectives end together: ranks that are far apart were joined wrongly.
is "ends apart" "$(jq -s '[.[] | select(.kind == "coll") | .ranks | map(.end_ns) | (max - min) | select(. > 1000000)] | length' "$dir/ops")" 0
is "launched together" "$(jq -s '[.[] | select(.kind == "pair") | .ranks[] | [.rank, .launch]] | group_by(.) | map(length) | unique == [2]' "$dir/ops")" true
is "counts" "$(jq -s -c '[.[] | select(.kind != "fanout") | [.func, .count, .dtype]] | unique' "$dir/ops")" \
    '[["AllGather",1024,"ncclFloat32"],["AllReduce",65536,"ncclFloat32"],["AllReduce",1049600,"ncclFloat32"],["AlltoAll",256,"ncclFloat32"],["SendRecv",4096,"ncclFloat32"]]'

# Rank 2 sleeps 40 ms before each forward pass: 129 ms of the default group's all-reduces. Rank 0 is last more often.
"$RINGSCOPE" report --json "$data" >"$dir/report" || exit 1
is "straggler" "$(jq -c '.stragglers | max_by(.cost_ns) | [.rank, (.cost_ns >= 125130000 and .cost_ns <= 132870000)]' "$dir/report")" '[2,true]'

for i in 0 1 2 3; do gunzip -c "$data/kineto_rank$i.json.gz" >"$dir/$i.json"; done
variant() { # NAME FILTER [RANKS]: the traces through jq; the others as they are
    mkdir "$dir/$1"
    for i in 0 1 2 3; do
        case "${3-0 1 2 3}" in
        *$i*) jq -c --argjson rank "$i" "$2" "$dir/$i.json" >"$dir/$1/trace_rank$i.json" ;;
        *) cp "$dir/$i.json" "$dir/$1/trace_rank$i.json" ;;
        esac
    done
    ops "$dir/$1" >"$dir/$1.ops" || bad=1
}
same() { # NAME WHAT
    if ! cmp -s <(facts "$dir/ops") <(facts "$dir/$1.ops"); then
        echo "$2: other operations"
        bad=1
    fi
}

variant order '{traceEvents: (.traceEvents | map(to_entries | reverse | from_entries)), baseTimeNanoseconds, distributedInfo}'
same order "keys the other way round, distributedInfo behind the events"
variant texts '.distributedInfo.pg_config |= (map(.ranks |= tostring) | tostring)'
same texts "pg_config and ranks as texts"
variant host '.traceEvents |= map(if .cat == "kernel" then .args |= {device, stream, correlation} else . end)'
same host "what is said at host calls alone, and kernels without External id"
variant nameless 'del(.distributedInfo)'
same nameless "no distributedInfo"

# Windows that begin later, and holes: what is left is joined as before.
colls='[.traceEvents[] | select(.name == "record_param_comms" and .args["Process Group Name"] == "0" and
    (.args["Collective name"] == "allreduce"))] | sort_by(.ts)'
without() { # the indexes of all-reduces that go
    echo "($colls | [.[$1].args[\"External id\"]]) as \$gone | .traceEvents |= map(select(.args[\"External id\"] as \$id
        | (\$gone | index(\$id)) == null or \$id == null))"
}
late() { # NAME: all-reduces of the default group whose ends are apart, those of four ranks, those of three
    jq -s -c '[.[] | select(.func == "AllReduce" and .count == 1049600)] | [
        (map(.ranks | map(.end_ns) | select((max - min) > 1000000)) | length),
        (map(select((.ranks | length) == 4)) | length), (map(select((.ranks | length) == 3)) | length)]' "$dir/$1.ops"
}
variant later "(${colls} | .[0:5] | map(.args[\"External id\"])) as \$gone | .traceEvents |= map(select(.args[\"External id\"] as \$id
    | (\$gone | index(\$id)) == null or \$id == null))" 1
is "a window that begins five operations later" "$(late later)" '[0,35,5]'
variant hole "$(without 19)" 3
is "a hole" "$(late hole)" '[0,39,1]'

# Sends and receives that begin later: those of which it is not clear stay alone, none gets a wrong mate.
# shellcheck disable=SC2016 # variables of jq
variant ring '([.traceEvents[] | select(.name == "record_param_comms" and (.args["Collective name"] | IN("send", "recv")))]
    | sort_by(.ts) | .[0:2] | map(.args["External id"])) as $gone | .traceEvents |= map(select(.args["External id"] as $id
    | ($gone | index($id)) == null or $id == null))' 1
is "a ring that begins later" "$(jq -s -c '[.[] | select(.kind == "pair" and (.ranks | length) == 2)] | [length >= 14,
    (map(.ranks | map(.end_ns) | select((max - min) > 1000000)) | length)]' "$dir/ring.ops")" '[true,0]'

# A cut trace: what was whole is used, and where it ends is said.
mkdir "$dir/cut"
for i in 0 1 2; do cp "$dir/$i.json" "$dir/cut/trace_rank$i.json"; done
head -c 1500000 "$dir/3.json" >"$dir/cut/trace_rank3.json"
ops "$dir/cut" >"$dir/cut.ops" 2>"$dir/cut.err"
is "cut: operations" "$(jq -s '[.[] | select(.kind == "coll")] | length >= 55' "$dir/cut.ops")" true
"$RINGSCOPE" report --json "$dir/cut" >"$dir/cut.report" 2>"$dir/cut.err"
if ! grep -q 'trace_rank3.json: byte [0-9]*: ' "$dir/cut.report" "$dir/cut.err"; then
    echo "cut: nobody says where: $(head -n 2 "$dir/cut.err")"
    bad=1
fi

# Small ones, written by hand: one collective with Seq and Comms Id, a send whose receive has another name.
is "formats" "$(ops "$data/formats" | jq -s -c 'map([.kind, .func, .seq, .count, .dtype, (.ranks | length)]) | sort')" \
    '[["coll","AllReduce",1,1048576,"ncclFloat32",2],["pair","SendRecv",null,4096,"ncclBfloat16",2]]'
exit $bad
