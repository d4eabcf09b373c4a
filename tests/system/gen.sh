#!/bin/bash
# Generated runs are recordings like any other: complete where nothing was disturbed, and with every disturbance counted.
# Their callbacks come in NCCL's order, and times agree with the truth beside them.
set -u
cd "${TMP:?}" || exit 1
bad=0
fail() {
    echo "line ${BASH_LINENO[0]}: $*"
    bad=1
}

# gen NAME OPTION...: one run; its truth must be JSON, and its recordings readable without damage.
gen() {
    local name=$1
    shift
    if ! "$RINGSCOPE" gen "$@" -o "$name" >"$name.out" 2>&1; then
        fail "$name: $(cat "$name.out")"
        return
    fi
    "$RINGSCOPE" info --json "$name" >"$name.info" 2>"$name.err" || fail "$name: info: $(cat "$name.err")"
    [ -e "$name/truth.json" ] || return 0
    jq -e .options "$name/truth.json" >"$name.options" || fail "$name: truth.json"
}
# same NAME FILTER WANTED: of info.
same() {
    local got
    got=$(jq -c "$2" "$1.info")
    [ "$got" = "$3" ] || fail "$1: $2 is $got, not $3"
}
truth() {
    local got
    got=$(jq -c "$2" "$1/truth.json")
    [ "$got" = "$3" ] || fail "$1: truth $2 is $got, not $3"
}
plain='[.lost, .overwritten, ([.inputs[].complete] | all), ([.process_list[].state] | unique)]'

# ---- every workload: complete, closed, and as many callbacks as were made ----
for w in ddp tpdp pipeline alltoall graph mix; do
    gen $w -w $w --steps 5
    same $w "$plain" '[0,0,true,["closed"]]'
    same $w .callbacks "$(jq .callbacks $w/truth.json)"
    same $w '[.processes, .hosts, .ranks, (.runs | length)]' '[8,2,8,1]'
done
for api in 4 6; do
    gen v$api --api $api -w pipeline --steps 3
    same v$api "$plain" '[0,0,true,["closed"]]'
done
gen many -w mix --devices-per-process 2 --channels 4 --net-steps 9 --steps 5
same many "$plain" '[0,0,true,["closed"]]'
same many '[.processes, .ranks]' '[4,8]'
gen ops --events ops --steps 3
same ops '.events | has("ProxyOp")' false
gen nobody -w tpdp --no-world --steps 3
same nobody '[.communicators, (.runs | length)]' '[6,1]'
gen silent -w graph --replays-unreported --steps 3
same silent '.events | has("KernelCh")' false
gen large --callbacks 200k --no-truth
same large '.callbacks >= 200000 and .callbacks < 205000' true
[ ! -e large/truth.json ] || fail "--no-truth wrote one"

# ---- the same options, the same bytes; another seed, others ----
gen again -w mix --steps 5
gen other -w mix --steps 5 --seed 2
diff -r mix again >diff.out || fail "same seed, other bytes: $(head -n 3 diff.out)"
! cmp -s mix/node00.20000.rsc other/node00.20000.rsc || fail "another seed, same bytes"

# ---- the same seed, the same noise, whatever fault is planted: a fault of nothing changes nothing, and a rank that is
# last in every step by 1 ms and by 3 ms makes jobs whose lengths differ by 2 ms a step, to the ns ----
# unchanged FAULT OPTION...: planting a fault of nothing leaves the recordings of ranks 4 to 6 as they are.
unchanged() {
    local fault=$1 file
    shift
    "$RINGSCOPE" gen --steps 6 "$@" --force -o base >base.out 2>&1 || fail "$*: $(cat base.out)"
    # shellcheck disable=SC2086
    "$RINGSCOPE" gen --steps 6 "$@" $fault --force -o planted >base.out 2>&1 || fail "$* $fault: $(cat base.out)"
    for file in base/node01.200[0-2]0.rsc; do
        cmp -s "$file" "planted/${file##*/}" || fail "$* $fault: ${file##*/} is not the same"
    done
}
for fault in "--slow 5:0" "--slow-factor 5:1" "--slow-host 1:0" "--slow-cpu 2:0" "--slow-link 3-4:1" "--late-credit 4:0" "--sporadic 5:0:900" "--pause 5@2:0" \
    "--profiler all@2:0" "--checkpoint all@2:0" "--warm-up 3:0" "--no-recording 7"; do
    unchanged "$fault" -w mix
done
unchanged "--late 3@2"
unchanged "--slow 5:0" -w tpdp --overlap --noise gauss:20 --noise host:20
unchanged "--slow 5:0" -w ddp --host-part 1
unchanged "--slow 5:0" -w tpppdp --schedule 1f1b
unchanged "--slow 5:0" -w pipeline --stages 4 --schedule interleaved
for w in ddp alltoall; do
    for us in 0 1000 3000; do gen $w.$us -w $w --steps 12 --slow 5:$us; done
    for us in 1000 3000; do longer[us]=$(($(jq .length_ns $w.$us/truth.json) - $(jq .length_ns $w.0/truth.json))); done
    [ $((longer[3000] - longer[1000])) = 24000000 ] || fail "$w: 12 steps of 2 ms are $((longer[3000] - longer[1000])) ns"
    # Without it the others' noise of some 20 us shows: the slow rank hides it.
    if [ "${longer[1000]}" -gt 12000000 ] || [ "${longer[1000]}" -le 10500000 ]; then fail "$w: 12 steps of 1 ms are ${longer[1000]} ns"; fi
done

"$RINGSCOPE" gen -o mix >refused.out 2>&1 && fail "a run was overwritten without --force"
"$RINGSCOPE" gen -o mix --force --steps 1 >forced.out 2>&1 || fail "--force: $(cat forced.out)"
"$RINGSCOPE" gen --ranks 5 --hosts 2 -o odd >usage.out 2>&1
[ $? = 2 ] || fail "5 ranks on 2 hosts is no usage error"

# ---- losses, rings, late and missing recordings ----
gen drop --drop 0.2 --steps 20
same drop .lost "$(jq .callbacks_lost drop/truth.json)"
same drop '.callbacks + .lost' "$("$RINGSCOPE" gen --steps 20 -o whole >/dev/null && jq .callbacks whole/truth.json)"
same drop '[(.lost > 0), ([.process_list[] | select(.lost > 0)] | length)]' '[true,4]'
truth drop '.lost | length > 10' true
gen ring --ring 3:8192 --steps 20
same ring '[(.overwritten > 0), (.callbacks + .overwritten)]' "[true,$(jq .callbacks ring/truth.json)]"
gen late --late 2@10 --steps 20
same late '[.lost, (.process_list | map(.calls.start) | .[2] < .[1])]' '[0,true]'
gen absent --no-recording 5 --steps 3
same absent '[.processes, .ranks]' '[7,7]'
gen odd_count --mismatch 3@1 --steps 3
truth odd_count '.mismatches | map([.op, .rank])' '[[4,3]]'

# ---- who is slow is in the truth: about 1 ms in each of 20 steps ----
gen slow --slow 5:1000 --steps 20
truth slow '.straggler | [.rank, .host, (.rank_cost_ns > 15e6 and .rank_cost_ns < 21e6)]' '[5,"node01",true]'
gen slow_host -w tpdp --slow-host 1:1000 --steps 20
truth slow_host '.straggler | [.host, (.host_cost_ns > 15e6)]' '["node01",true]'
gen slow_cpu --slow-cpu 2:1000 --steps 20
truth slow_cpu '.straggler | [.rank, (.rank_cost_ns > 15e6)]' '[2,true]'
gen slow_link --slow-link 3-4:5 --steps 3

# ---- hangs: readable, not closed, something left open ----
for kind in dead not-joined outside mismatch mismatch-func stream-blocked stalled-net stalled-credit stalled-gpu deadlock \
    deadlock-sync; do
    gen h_$kind --hang $kind@3 --steps 6
    same h_$kind '[.lost, ([.inputs[].complete] | all), ([.process_list[].state] | unique)]' '[0,true,["killed"]]'
    same h_$kind .callbacks "$(jq .callbacks h_$kind/truth.json)"
    open=$(jq '.calls.start - .calls.stop' h_$kind.info)
    if [ $kind = outside ]; then want=0; else want=1; fi
    [ $((open > 0)) = $want ] || fail "$kind: $open events are open"
done
truth h_dead .hang.verdict '"RANK_DEAD"'
truth h_stalled-net '.hang | [.ranks, .peer, .step, .state]' '[[3],4,2,"ProxyStepSendWait"]'
for w in tpdp pipeline alltoall graph mix; do gen h_$w -w $w --hang not-joined:1@2 --steps 6; done

# ---- a tiny run, callback by callback ----
gen tiny --ranks 2 --steps 2 --buckets 2 --channels 1 --net-steps 1
"$RINGSCOPE" export --format jsonl tiny/node00.20000.rsc >tiny.jsonl || fail "export"
orphans=$(jq -s '(map(select(.call == "start") | .event)) as $all
    | map(select(.call == "start" and .parent != null and (.parent as $p | $all | index($p) == null))) | length' tiny.jsonl)
[ "$orphans" = 0 ] || fail "$orphans parents are not there"
order=$(jq -r 'select(.thread == "python3") | "\(.call).\(.type)\(if .state then "." + .state else "" end)"' tiny.jsonl | head -n 12 | tr '\n' ' ')
want="start.GroupApi state.GroupApi.GroupStartApiStop start.CollApi stop.CollApi state.GroupApi.GroupEndApiStart \
start.KernelLaunch stop.KernelLaunch start.Group start.Coll stop.Coll stop.Group stop.GroupApi "
[ "$order" = "$want" ] || fail "the program's calls: $order"
steps=$(jq -r 'select(.type == "ProxyStep" and .state) | .state' tiny.jsonl | sort | uniq -c | awk '{ print $1 $2 }' | tr '\n' ' ')
want="4ProxyStepRecvFlushWait 4ProxyStepRecvGPUWait 4ProxyStepRecvWait 4ProxyStepSendGPUWait 4ProxyStepSendPeerWait 4ProxyStepSendWait "
[ "$steps" = "$want" ] || fail "states of network steps: $steps"
sorted=$(jq -s 'group_by(.tid) | map(map(.time_ns) | . == sort) | all' tiny.jsonl)
[ "$sorted" = true ] || fail "a thread's callbacks are out of order"
exit $bad
