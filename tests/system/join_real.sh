#!/bin/bash
# Recordings of real NCCL (tests/data) join completely: every collective on all ranks, every send with its receive.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data

ops() { "$RINGSCOPE" ops --json "$data/$1"; }

for folder in h200-mix h200-ddp; do
    # Every collective has all the ranks of its communicator, once each, and nothing is missing.
    is "$folder collectives that lack a rank" "$(ops $folder | jq -s '[.[] | select(.kind == "coll")
        | select((.ranks | map(.rank)) != [range(.nranks)] or .complete != true or (.missing + .not_recorded != []))] | length')" 0
    is "$folder pairs that lack an end" "$(ops $folder | jq -s '[.[] | select(.kind == "pair")
        | select((.ranks | length) != 2 or .confidence != 1 or (.missing + .not_recorded != []))] | length')" 0
    is "$folder ids twice" "$(ops $folder | jq -s '[.[].op] | length - (unique | length)')" 0
    is "$folder sizes that differ" "$(ops $folder | jq -s '[.[] | select(.mismatch)] | length')" 0
    is "$folder hangs" "$("$RINGSCOPE" hang --json "$data/$folder" | jq -r .verdict)" NONE
    # Times: enqueued, launched, started, ended, in this order, as far as they are known. A replay is launched by its graph.
    is "$folder times out of order" "$(ops $folder | jq -s '[.[].ranks[] | [.enqueued_ns, .launched_ns, .start_ns, .end_ns]
        | map(select(. != null)) | select(. != sort) ] | length')" 0
done

# nccl_mix: what the program did in 3 steps (tests/system/real.sh). 10 all-reduces and 5 replays a step and rank, on the
# world (8 and 5), on each of the two halves, on the second communicator (1 each).
is "mix: all-reduces" "$(ops h200-mix | jq -s '[.[] | select(.func == "AllReduce" and .nranks == 4)] | length')" $((14 * 3))
is "mix: all-reduces of the halves" "$(ops h200-mix | jq -s '[.[] | select(.func == "AllReduce" and .nranks == 2)] | length')" $((2 * 3))
is "mix: replays" "$(ops h200-mix | jq -s -c '[.[] | select(.replay != null) | .replay] | sort')" "[$(seq -s, 0 14)]"
is "mix: rings" "$(ops h200-mix | jq -s -c '[.[] | select(.kind == "fanout" and .func == "SendRecv") | .ranks | length]')" '[4,4,4]'
is "mix: all-to-alls" "$(ops h200-mix | jq -s -c '[.[] | select(.kind == "fanout" and .func == "AlltoAll") | .ranks | length]')" '[4,4,4,4,4,4]'
is "mix: pairs in fan-outs" "$(ops h200-mix | jq -s '[.[] | select(.kind == "pair" and .fanout != null)] | length')" $(((4 + 2 * 16) * 3))
is "mix: operations launched together" "$(ops h200-mix | jq -s '[.[] | select(.kind == "coll") | .ranks[0].launch] | group_by(.)
    | map(select(length == 3)) | length')" 3
# The GPU's timers of channel 0 go wrong after the first all-to-all (NCCL counts work with itself on one side only).
is "mix: stale timers are marked" "$(ops h200-mix | jq -s '[.[].ranks[] | select(.stale_timer)] | length > 100')" true
# Kernels of a send and a receive tell their end when the first of them is through: the driver saw them run for longer.
is "overlay: ends before starts" "$(ops h200-overlay/rec | jq -s '[.[] | select(.violation)] | length')" 0
is "overlay: ends that are too early" "$(ops h200-overlay/rec | jq -s -c '[.[] | select(.func == "SendRecv") | [.transfer_ns, .busbw_gbs, (.ranks | map(.end_early) | unique)]]
    | unique')" '[[null,null,[true]]]'
is "overlay: who waited for whom holds" "$(ops h200-overlay/rec | jq -s '[.[] | select(.func == "SendRecv" and .last_rank == null)] | length')" 0

# The families: the two halves of the world; PyTorch's groups, with colours made of their rank lists.
is "mix: parents" "$("$RINGSCOPE" comms --json "$data/h200-mix" | jq -s -c 'map(select(.parent) | [.parent.count, .parent.color, (.members | map(.global_rank))])')" \
    '[[1,0,[0,1]],[1,1,[2,3]]]'
is "ddp: parents" "$("$RINGSCOPE" comms --json "$data/h200-ddp" | jq -s -c 'map(select(.parent) | [.parent.count, .parent.color_from_ranks])')" \
    '[[1,true],[2,true]]'
exit $bad
