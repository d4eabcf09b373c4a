#!/bin/bash
# Recordings of real NCCL on a real GPU (tests/data): everything that the programs did is in them, and nothing is lost.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data

info() { "$RINGSCOPE" info --json "$data/$1"; }

for folder in h200-mix h200-ddp; do
    whole=$(info $folder)
    is "$folder lost" "$(jq '.lost + .overwritten + .damaged' <<<"$whole")" 0
    is "$folder processes" "$(jq -c '[.processes, .ranks, .world_size]' <<<"$whole")" '[4,4,4]'
    is "$folder complete" "$(jq '[.inputs[].complete] | all' <<<"$whole")" true
    is "$folder ended well" "$(jq '[.process_list[].ended_well] | all' <<<"$whole")" true
    is "$folder NCCL" "$(jq -r .nccl_version <<<"$whole")" 2.28.9
    is "$folder starts and stops" "$(jq '.calls.start - .calls.stop' <<<"$whole")" 0
    is "$folder init and finalize" "$(jq '.calls.init - .calls.finalize' <<<"$whole")" 0
    is "$folder devices" "$(jq -c '[.process_list[].communicators[] | [.device, .uuid != null, .bus_id != null, .api]]
        | unique' <<<"$whole")" '[[0,true,true,5]]'
    is "$folder clock samples" "$(jq '[.process_list[] | .clock_samples >= 3 and .clock_error_ns < 1000] | all' <<<"$whole")" true
done

# nccl_mix: 3 steps on 4 ranks. World, two halves of it, and a second one.
mix=$(info h200-mix)
"$RINGSCOPE" export --format jsonl "$data/h200-mix" >"$TMP/mix"
jq -r 'select(.call == "start") | "\(.type) \(.args.func) \(.args.graphCaptured)"' "$TMP/mix" >"$TMP/starts"
starts() { # TYPE FUNC [CAPTURED]: how many such events were started
    grep -c "^$1 $2 ${3:-.*}\$" "$TMP/starts"
}
is communicators "$(jq .communicators <<<"$mix")" 4
is "all-reduce calls" "$(starts CollApi AllReduce false)" $((10 * 3 * 4))
is "captured calls" "$(starts CollApi AllReduce true)" 4
is "all-reduces with replays" "$(starts Coll AllReduce)" $(((10 + 5) * 3 * 4))
for func in AllGather ReduceScatter Broadcast; do is $func "$(starts Coll $func)" $((3 * 4)); done
# A ring is one of each; an all-to-all is 4 of each, and there are two.
is sends "$(starts P2pApi Send)" $(((1 + 2 * 4) * 3 * 4))
is receives "$(starts P2pApi Recv)" $(((1 + 2 * 4) * 3 * 4))
is "types seen" "$(jq -c '.events | keys' <<<"$mix")" \
    '["Coll","CollApi","Group","GroupApi","KernelCh","KernelLaunch","P2p","P2pApi","ProxyCtrl","ProxyOp","ProxyStep"]'

# Every step of the network goes through its three states, once each, and what a rank sends another receives. Parents: every
# kernel channel belongs to an operation that was started in the same process.
jq -s '{steps: (map(select(.call == "state" and .type == "ProxyStep")) | group_by(.state) | map([.[0].state, length])),
    sent: ([.[] | select(.state == "ProxyStepSendWait") | .args.transSize] | add),
    received: ([.[] | select(.state == "ProxyStepRecvFlushWait") | .args.transSize] | add),
    orphans: ((map(select(.call == "start") | {key: (.event + "@" + (.pid | tostring)), value: .type}) | from_entries) as $of
        | map(select(.call == "start" and .type == "KernelCh")
            | $of[.parent + "@" + (.pid | tostring)] | select(. != "Coll" and . != "P2p")) | length)}' "$TMP/mix" >"$TMP/sums"
half=$(($(jq .events.ProxyStep <<<"$mix") / 2))
is "states of steps" "$(jq -c .steps "$TMP/sums")" "[[\"ProxyStepRecvFlushWait\",$half],[\"ProxyStepRecvGPUWait\",$half],[\"ProxyStepRecvWait\",$half],[\"ProxyStepSendGPUWait\",$half],[\"ProxyStepSendPeerWait\",$half],[\"ProxyStepSendWait\",$half]]"
is "bytes sent and received" "$(jq '.sent > 0 and .sent == .received' "$TMP/sums")" true
is orphans "$(jq .orphans "$TMP/sums")" 0

# DDP: every rank does the same, and every call becomes an operation.
per_rank=$("$RINGSCOPE" export --format jsonl "$data/h200-ddp" | jq -s -c '
    map(select(.call == "start" and (.type == "Coll" or .type == "CollApi"))) | group_by([.type, .args.func])
    | map({(.[0].args.func): (group_by(.pid) | map(length) | unique)}) | unique')
is "DDP operations of each rank" "$per_rank" '[{"AllGather":[1]},{"AllReduce":[102]},{"Broadcast":[4]}]'
exit $bad
