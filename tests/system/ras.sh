#!/bin/bash
# Output of NCCL's RAS as evidence of `hang`: alone, with recordings, with dumps.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data

hang() { "$RINGSCOPE" hang --json "$@" 2>/dev/null; }
short() { # FILE...: verdict, ranks, suspects, communicator, function and number
    hang "$@" | jq -c '[.verdict, .ranks, [.culprits[] | select(.suspected) | .ranks[]], .func, .seq]'
}
verdict() { # FILE... EXPECTED
    local expected=${*: -1}
    is "${1##*/}" "$(short "${@:1:$#-1}")" "$expected"
}

# One answer each; what is wrong in them is in tests/data/README.md.
cd "$data/ras" || exit 1
verdict asleep-2.24.txt '["NOT_JOINED",[5],[],null,6649]'
verdict asleep-2.28.txt '["NOT_JOINED",[5],[],"AllReduce",6649]'
verdict two-asleep-verbose.txt '["NOT_JOINED",[2,5],[],"AllReduce",6649]'
verdict lost-2.24.txt '["RANK_DEAD",[],[5],null,null]'
verdict dead-2.24.txt '["RANK_DEAD",[5],[],null,null]'
verdict dead-2.28.txt '["RANK_DEAD",[5],[],null,null]'
verdict dead.json '["RANK_DEAD",[3],[],null,null]'
verdict silent.json '["RANK_DEAD",[],[3],null,null]'
verdict left-2.28.txt '["NOT_JOINED",[],[3],null,null]'
verdict error-2.28.txt '["STALLED_STEP",[6],[],null,null]'
verdict healthy-2.28.txt '["UNKNOWN",[],[],null,null]'
verdict equal.json '["UNKNOWN",[],[],null,null]'
verdict pair-first.json '["NOT_JOINED",[5],[],"AllGather",50]'
verdict wrong.json '["MISMATCH",[6],[],"AllReduce",100]'
verdict order.json '["DEADLOCK",[0,1],[0,1],"AllReduce",4]'
is "process" "$(hang asleep-2.24.txt | jq -c '.who')" '[{"rank":5,"comm_rank":5,"host":"172.16.64.211","pid":48305,"device":1}]'
is "communicator" "$(hang asleep-2.28.txt | jq -r .comm)" 0x27a079b828ff1a75
is "waiting" "$(hang pair-first.json | jq -c .waiting_ranks)" '[4]'
is "one culprit" "$(hang pair-first.json | jq '.culprits | length')" 1
once='asked once'
is "one answer is one moment" "$(hang pair-first.json | jq -r .conclusion[] | grep -c "$once")" 1

# Two answers: the same, or not. What is dead stays dead, whichever file comes last.
verdict pair-first.json pair-second.json '["NOT_JOINED",[5],[],"AllGather",50]'
is "confirmed" "$(hang pair-*.json | jq -r .conclusion[] | grep -c 'the same in 2 answers of NCCL RAS within 30 s')" 1
is "and said so" "$(hang pair-*.json | jq -r .conclusion[] | grep -c "$once")" 0
verdict moving-first.json '["NOT_JOINED",[7],[],"AllReduce",100]'
verdict moving-first.json moving-second.json '["NONE",[],[],null,null]'
verdict dead-2.24.txt lost-2.24.txt '["RANK_DEAD",[5],[],null,null]'

# Real: NCCL 2.28.9, four ranks on one GPU. Rank 2 sleeps; rank 3 is killed, and the JSON has a comma too few.
real=../ras-h200
for form in txt json; do verdict $real/asleep/first.$form '["NOT_JOINED",[2],[],"AllReduce",10]'; done
verdict $real/asleep/first.json $real/asleep/second.json '["NOT_JOINED",[2],[],"AllReduce",10]'
verdict $real/killed/first.json $real/killed/second.json '["RANK_DEAD",[],[3],null,null]'
is "killed: its rank of the job is not in the text" "$(hang $real/killed/first.txt | jq -c '[.verdict, .culprits[0].ranks, .culprits[0].pids]')" \
    '["RANK_DEAD",[null],[1374]]'
for form in txt json; do
    is "asleep, with recordings, $form" "$(hang $real/asleep/rec $real/asleep/first.$form | jq -c '[.verdict, .ranks,
        (.culprits[0].evidence | contains("NCCL RAS shows the same: it has launched 10 AllReduce operations, the others 11."))]')" '["NOT_JOINED",[2],true]'
    is "killed, with recordings, $form" "$(hang $real/killed/rec $real/killed/first.$form | jq -c '[.verdict, .ranks,
        (.culprits[0].evidence | contains("NCCL RAS shows the same: it did not answer."))]')" '["RANK_DEAD",[3],true]'
    is "one job, $form" "$("$RINGSCOPE" info --json $real/killed/rec $real/killed/first.$form 2>/dev/null | jq -c '[.ranks, .world_size]')" '[4,4]'
done

# With the answers of the protocol in front, as nc prints them; cut off.
{ printf 'SERVER PROTOCOL 2\nOK\nOK\n'; cat pair-first.json; } >"$TMP/nc.json"
verdict "$TMP/nc.json" '["NOT_JOINED",[5],[],"AllGather",50]'
head -c 600 asleep-2.28.txt >"$TMP/cut.txt"
is "a cut file is said" "$("$RINGSCOPE" info "$TMP/cut.txt" 2>&1 | grep -c 'cut off')" 1

# A hang of 8 ranks with recordings, and what RAS would answer: the numbers of its counters are those of recordings.
"$RINGSCOPE" gen --hang not-joined:5@10 -o "$TMP/run" >/dev/null 2>&1
answer='def counts($hash; $rank): [.[] | select(.comm == $hash and .kind == "coll" and any(.ranks[]; .rank == $rank))]
        | reduce .[] as $o ({AllReduce: 0}; .[$o.func] += 1);
    . as $ops | {nccl_version: "2.28.9", timestamp: $time, communicators_count: ($comms | length), communicators: [$comms[] | . as $c
        | {hash: .comm, size: .nranks, ranks: [.members[] | .rank as $r | {rank, host, pid, cuda_dev: .device,
            status: {init_state: 0, async_error: 0}, collective_counts: ($ops | counts($c.comm; $r))}], missing_ranks: []}]}'
"$RINGSCOPE" comms --json "$TMP/run" >"$TMP/comms" 2>/dev/null
"$RINGSCOPE" ops --json "$TMP/run" 2>/dev/null >"$TMP/ops"
jq -s --slurpfile comms "$TMP/comms" --arg time '2026-03-02 10:00:00' "$answer" "$TMP/ops" >"$TMP/ras.json"
is "ranks are counted once" "$("$RINGSCOPE" info --json "$TMP/run" "$TMP/ras.json" 2>/dev/null | jq -c '[.ranks, .communicators]')" '[8,1]'
is "recordings and RAS" "$(short "$TMP/run" "$TMP/ras.json")" '["NOT_JOINED",[5],[],"AllReduce",40]'
is "RAS agrees" "$(hang "$TMP/run" "$TMP/ras.json" | jq -r .culprits[0].evidence | grep -c 'NCCL RAS shows the same: it has launched 40 ')" 1
is "RAS alone" "$(short "$TMP/ras.json")" '["NOT_JOINED",[5],[],"AllReduce",40]'

# The culprit left no recording: its host's ranks are suspected, and RAS knows which.
pid=$(jq '.members[5].pid' "$TMP/comms")
mkdir "$TMP/rest" && cp "$TMP"/run/*.rsc "$TMP"/run/*.live "$TMP/rest" && rm -f "$TMP/rest/node01.$pid".*
is "without it" "$(hang "$TMP/rest" | jq -c '[.ranks, .unseen_ranks]')" '[[],[5]]'
is "decided" "$(short "$TMP/rest" "$TMP/ras.json")" '["NOT_JOINED",[5],[],"AllReduce",40]'
is "its process" "$(hang "$TMP/rest" "$TMP/ras.json" | jq -c '[.unseen_ranks, .culprits[0].pids]')" "[[5],[$pid]]"

# A job that closed well does not hang, whatever one answer says; one that goes on, neither.
"$RINGSCOPE" gen -o "$TMP/well" >/dev/null 2>&1
"$RINGSCOPE" comms --json "$TMP/well" >"$TMP/comms" 2>/dev/null
"$RINGSCOPE" ops --json "$TMP/well" 2>/dev/null >"$TMP/ops"
jq -s --slurpfile comms "$TMP/comms" --arg time '2026-03-02 10:00:00' "$answer"' | .communicators[0].ranks[2].collective_counts.AllReduce -= 1' \
    "$TMP/ops" >"$TMP/well.json"
is "closed" "$(short "$TMP/well" "$TMP/well.json")" '["NONE",[],[],null,null]'

# Dumps of four ranks, of which one is missing.
flight=../flight/hang-unseen
before=$(hang $flight/* | jq -c '[.verdict, .ranks, [.culprits[].ranks[]]]')
jq '.communicators |= [.[0] | .size = 4 | .ranks |= .[:4] | .ranks[].collective_counts.AllReduce = 9 | .ranks['"$(jq '.[2][0]' <<<"$before")"'].collective_counts.AllReduce = 8]' \
    "$TMP/ras.json" >"$TMP/four.json"
is "suspected without RAS" "$(jq -c '[.[1], (.[2] | length)]' <<<"$before")" '[[],1]'
is "named with it" "$(hang $flight/* "$TMP/four.json" | jq -c '[.verdict, .ranks]')" "[\"NOT_JOINED\",[$(jq '.[2][0]' <<<"$before")]]"
exit $bad
