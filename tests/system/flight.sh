#!/bin/bash
# Flight Recorder dumps: the order of operations that other tools saw of the same job, and the verdicts of dumps whose truth
# is known (made by hand, and of real hangs).
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# ---- the same job, seen by three tools ----
# (function, bytes) of what each rank asked of the default group, in its own order. A ring of sends is one fan-out.
order() { # IN...
    "$RINGSCOPE" ops --json "$@" 2>/dev/null | jq -s -c '[.[] | select(.nranks == 4 and .kind != "pair") | . as $op | .ranks[]
        | {rank, at: (.enqueued_ns // .launched_ns // .start_ns), what: [$op.func, $op.bytes]}]
        | group_by(.rank) | map(sort_by(.at) | map(.what))'
}
same() { # WHAT CHANGE OTHER: the ranks whose order, so changed, is the other's
    is "$1: ranks of the same order" "$(jq -c --slurpfile other "$tmp/$3" "$2 | [range(length) as \$r
        | select(.[\$r] == \$other[0][\$r]) | \$r]" "$tmp/flight")" '[0,1,2,3]'
}
order "$data"/flight/ddp4 >"$tmp/flight"
order "$data"/flight/ddp4/*.pkl >"$tmp/pickle"
order "$data"/kineto/kineto_rank?.json.gz >"$tmp/kineto"
order "$data"/example/ddp4 >"$tmp/example"
is "ranks" "$(jq length "$tmp/flight")" 4
is "operations of each rank" "$(jq -c 'map(length)' "$tmp/flight")" '[87,87,87,87]'
is "pickle and JSON differ" "$(cmp "$tmp/flight" "$tmp/pickle" 2>&1)" ""
is "operations in the five steps" "$(jq -c 'map(length)' "$tmp/kineto")" '[55,55,55,55]'
same "the five steps, as Kineto saw them" 'map(.[-55:])' kineto
# The example profiler also saw the barrier behind the dump.
same "the whole job, as the example profiler saw it" 'map(. + [["AllReduce", 4]])' example

ops() { "$RINGSCOPE" ops --json "$data/flight/$1" 2>/dev/null; }
is "operations that lack a rank, or do not end" "$(ops ddp4 | jq -s '[.[] | select(.kind != "fanout")
    | select(.complete != true or (.missing + .not_recorded != []) or .mismatch or .double)] | length')" 0
is "pairs of the ring" "$(ops ddp4 | jq -s -c '[.[] | select(.kind == "pair")] | group_by([.src, .dst])
    | map([.[0].src, .[0].dst, length])')" '[[0,1,8],[1,2,8],[2,3,8],[3,0,8]]'
is "groups" "$(ops ddp4 | jq -s -c '[.[] | [.pg_desc, .pg_name, .nranks]] | unique')" \
    '[["default_pg","0",4],["even","1",2],["odd","2",2]]'
is "times that no dump tells" "$(ops ddp4 | jq -s '[.[].ranks[] | select(.start_ns != null or .end_ns != null
    or .launched_ns != null or .enqueued_ns == null)] | length')" 0
is "operations without a Comms Id" "$(ops ddp4 | jq -s '[.[] | select(.kind == "coll" and .comms_id == null)] | length')" 0
is "a dump in two forms is read once, and said" "$("$RINGSCOPE" ops "$data/flight/ddp4" 2>&1 >/dev/null | grep -c "same dump.*3 more")" 1
is "durations, where timing was on" "$(ops hang-real/size | jq -s '[.[] | select(.nranks == 4 and .wait_source == "durations")]
    | length > 0')" true

# ---- hangs ----
verdict() { # FOLDER WANTED: verdict, function, number, ranks, without a dump; then the exit status
    local got status
    got=$("$RINGSCOPE" hang --json "$data/flight/$1" 2>/dev/null)
    status=$?
    is "$1" "$(jq -c '[.verdict, .func, .seq, .ranks, .unseen_ranks, (.detail // "" | split(":")[0])]' <<<"$got") $status" "$2"
}
verdict hang-not-joined '["NOT_JOINED","AllReduce",2,[2],[],"rank 2 enqueued number 1 last, the others wait in 2"] 3'
is "a rank may merely have been behind" "$("$RINGSCOPE" hang "$data/flight/hang-not-joined" 2>/dev/null | grep -c 'merely behind')" 1
verdict hang-wrapped '["NOT_JOINED","AllReduce",72,[2],[],"rank 2 enqueued number 71 last, the others wait in 72"] 3'
verdict hang-send '["NOT_JOINED","SendRecv",null,[1],[],"a send without its receive"] 3'
verdict hang-type '["MISMATCH","AllReduce",2,[0],[],"COLLECTIVE_TYPE_MISMATCH"] 3'
verdict hang-size '["MISMATCH","AllReduce",2,[1],[],"SIZE_OR_SYNTAX_MISMATCH"] 3'
verdict hang-dtype '["MISMATCH","AllReduce",2,[3],[],"COLLECTIVE_DTYPE_MISMATCH"] 3'
verdict hang-alltoall '["MISMATCH","AlltoAll",2,[0,1,2,3],[],"SIZE_OR_SYNTAX_MISMATCH"] 3'
verdict hang-state '["STALLED_STEP","AllReduce",2,[3],[],"COLLECTIVE_STATE_MISMATCH"] 3'
verdict hang-stalled '["STALLED_STEP","AlltoAll",2,[],[],"FULLY_MATCHED"] 3'
verdict hang-unseen '["STALLED_STEP","AllReduce",2,[],[3],"UNDECIDED"] 3'
verdict hang-older '["UNKNOWN",null,null,[],[],null] 1'
is "dumps of different moments" "$("$RINGSCOPE" hang "$data/flight/hang-older" 2>/dev/null | grep -c 'different moments')" 1
# Real ones, of 8 ranks (TP2, PP2, DP2): rank 1 leaves a send out; rank 4 sleeps, and rank 3 reduces more than its equals.
culprits() { "$RINGSCOPE" hang --json "$data/flight/$1" 2>/dev/null | jq -c '[.culprits[] | [.verdict, .ranks, .suspected, .frames[0]]]'; }
is "a send that is missing" "$(culprits hang-nosend)" '[["DEADLOCK",[1],false,"train.py:46 tp_reduce"]]'
is "two causes" "$(culprits hang-two | jq -c 'map(.[:3])')" '[["NOT_JOINED",[4],false],["MISMATCH",[3],false]]'
verdict hang-stream '["STREAM_BLOCKED","AllReduce",2,[1],[],null] 3'
verdict hang-deadlock '["DEADLOCK","AllReduce",2,[0,1,2,3],[],"two orders"] 3' # two against two
verdict hang-order '["DEADLOCK","AllReduce",2,[2],[],"two orders"] 3'
verdict hang-halves '["MISMATCH","AllReduce",2,[0,1,2,3],[],"SIZE_OR_SYNTAX_MISMATCH"] 3'
is "what both halves gave" "$("$RINGSCOPE" hang "$data/flight/hang-halves" 2>/dev/null | grep -c '^SIZE.*count 1024 of ncclFloat32 against count 512 of')" 1
is "how long is not told" "$("$RINGSCOPE" hang "$data/flight/hang-order" 2>/dev/null | grep -c 'entered .* [0-9.]* [mu]s ')" 0
verdict hang-real/notjoined '["NOT_JOINED","AllReduce",6,[1],[],"rank 1 enqueued number 5 last, the others wait in 6"] 3'
verdict hang-real/mismatch '["MISMATCH","AllReduce",6,[3],[],"COLLECTIVE_TYPE_MISMATCH"] 3'
verdict hang-real/size '["MISMATCH","AllReduce",6,[2],[],"SIZE_OR_SYNTAX_MISMATCH"] 3'
verdict hang-real/recv '["NOT_JOINED","SendRecv",null,[3],[],"a receive without its send"] 3'
verdict ddp4 '["NONE",null,null,[],[],null] 0'
# Pending entries only, of a real hang in which two ranks sleep; sends of batches stay "scheduled" for good.
verdict hang-active '["NOT_JOINED","AllReduce",9,[6],[],"rank 6 enqueued number 8 last, the others wait in 9"] 3'
is "both culprits" "$("$RINGSCOPE" hang --json "$data/flight/hang-active" 2>/dev/null |
    jq -c '[.culprits[] | [.ranks, .verdict, .suspected, .frames[0]]]')" \
    '[[[6],"NOT_JOINED",false,"hang8.py:16 step"],[[3],"NOT_JOINED",false,"hang8.py:16 step"]]'
is "entries that are not listed are not overwritten" "$("$RINGSCOPE" hang "$data/flight/hang-active" 2>&1 >/dev/null |
    grep -c 'fr_rank0.json: lists pending operations only.*7 more')" 1
is "without the culprits' dumps the absent are suspected" "$("$RINGSCOPE" hang --json "$data"/flight/hang-active/fr_rank[0124578].json 2>/dev/null |
    jq -c '[.ranks, (.culprits[] | [.ranks, .suspected])]')" '[[],[[3,6],true]]'

# The two small samples: one all-reduce, complete on rank 0 and started on rank 1. JSON and pickle agree.
for form in fr_rank0.json:fr_rank1.json nccl_trace_rank_0:nccl_trace_rank_1; do
    is "$form" "$("$RINGSCOPE" hang --json "$data/flight/${form%:*}" "$data/flight/${form#*:}" 2>/dev/null |
        jq -c '[.verdict, .waiting_ranks, (.detail | split(":")[0])]')" '["STALLED_STEP",[1],"COLLECTIVE_STATE_MISMATCH"]'
done

# ---- damage ----
# A dump that is cut keeps what was whole, is said, and is not held against its rank: its summary says how far it came.
for rank in 0 1 2 3; do cp "$data/flight/hang-stalled/fr_rank$rank.json" "$tmp/"; done
head -c 700 "$tmp/fr_rank1.json" >"$tmp/cut" && mv "$tmp/cut" "$tmp/fr_rank1.json"
is "a cut dump is said" "$("$RINGSCOPE" hang --json "$tmp"/fr_rank?.json 2>&1 >/dev/null | grep -c 'fr_rank1.json: .*byte')" 1
is "a cut dump accuses nobody" "$("$RINGSCOPE" hang --json "$tmp"/fr_rank?.json 2>/dev/null | jq -c .ranks)" '[]'
exit $bad
