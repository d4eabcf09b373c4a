#!/bin/bash
# The simulator keeps its own count of every call that returned. Whatever it plays, with whichever version of the interface,
# and however the job ends, the recordings must hold exactly that.
# sanitizers: thread
set -u
cd "${TMP:?}" || exit 1
bad=0

# play NAME OPTION...: one job; its truth and its recordings, process by process, call by call, type by type.
play() {
    local name=$1 truth kept
    shift
    if ! "$RINGSCOPE" sim "$@" --truth "$name.truth" -o "$name" >"$name.out" 2>&1; then
        echo "$name: sim failed"
        cat "$name.out"
        bad=1
        return
    fi
    truth=$(jq -s -S -c 'map(select(.kind == "process")
        | {pid, init, finalize, start, stop, state: .record, events: (.starts | with_entries(select(.value > 0))), lost: 0})
        | sort_by(.pid) | .[]' "$name.truth")
    kept=$("$RINGSCOPE" info --json "$name" | jq -S -c '.process_list | map({pid, init: .calls.init, finalize: .calls.finalize,
        start: .calls.start, stop: .calls.stop, state: .calls.state, events, lost}) | sort_by(.pid) | .[]')
    if [ -z "$truth" ] || [ "$truth" != "$kept" ]; then
        echo "$name: what was kept is not what was sent"
        diff <(echo "$truth") <(echo "$kept") | head -n 6
        bad=1
    fi
    if [ "$(jq -s 'map(select(.kind == "process") | .cuda_misuse) | add' "$name.truth")" != 0 ]; then
        echo "$name: the plugin called the CUDA driver outside init"
        bad=1
    fi
}
count() { # NAME FILTER WANTED: of the recordings' info
    local got
    got=$("$RINGSCOPE" info --json "$1" | jq -c "$2")
    if [ "$got" != "$3" ]; then
        echo "$1: $2 is $got, not $3"
        bad=1
    fi
}

for workload in ddp pipeline alltoall aggregate multidev split graph ring five; do
    play $workload -w $workload --ranks 4 --ranks-per-process 2 --hosts 2 --steps 4 --speed 4
done
for api in 1 2 3 4 5 6 7; do play v$api --api $api -w mix --ranks 4 --ranks-per-process 2 --hosts 2 --steps 4 --speed 4; done
play pxn -w mix --pxn --net ib --events all --ranks 8 --ranks-per-process 2 --hosts 2 --steps 8 --speed 4
play socket --net socket --events all --hosts 2 --steps 4 --speed 4
play ce -w alltoall --ce --ranks 4 --steps 4 --speed 4
play ops --events ops --hosts 2 --steps 4 --speed 4
count ce '.events | has("CeColl") and has("CeSync") and has("CeBatch")' true
[ -n "${SMALL_SHM:-}" ] || count v7 '.events | has("KernelPhase")' true
count pxn '[.hosts, .ranks, .communicators > 3, (.runs | length)]' '[2,8,true,1]'
count socket '.events.NetPlugin > 0' true
count ops '.events | has("ProxyOp")' false
count v3 '[.hosts, (.runs | length)]' '[2,1]'

# Ends that are no ends: what had returned is there, and info says how each process ended.
play killed --kill 2@3 --hosts 2 --steps 6 --speed 4 --notice-seconds 0.3
count killed '[.process_list[] | .state == "killed"] | map(select(.)) | length' 1
play hung --hang 1@3 --hosts 2 --steps 6 --speed 4 --hang-seconds 0.5
count hung '[.process_list[] | .ended_well] | any' false
play aborted --abort 1@3 --hosts 2 --steps 6 --speed 4
count aborted '.calls.start > .calls.stop' true

# Exit without destroying anything: NCCL's threads may call on after the recording is closed, and then count as lost.
"$RINGSCOPE" sim --no-destroy --hosts 2 --steps 4 --speed 4 --truth left.truth -o left >/dev/null || bad=1
count left '[.calls.finalize, .emitted, ([.process_list[].ended_well] | all)]' \
    "[0,$(jq -s 'map(select(.kind == "process") | .callbacks) | add' left.truth),true]"

# Two jobs in one folder are two runs, and the newest is read.
play first --steps 2 --speed 4
"$RINGSCOPE" sim --steps 2 --speed 4 --ranks 2 --seed 7 -o first >/dev/null
count first '[(.runs | length), .processes]' '[2,2]'
exit $bad
