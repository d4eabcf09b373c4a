#!/bin/bash
# Dumps of NCCL's example profiler (tests/data/example): operations under the right ranks, ends bounded, clocks of GPUs that
# are seconds apart; and dumps that `gen` makes, against their truth.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data/example

ops() { "$RINGSCOPE" ops --json "$@" 2>"$TMP/err"; }

# ring4: one process, four GPUs, a ring of sends. All operations stand in rank 0's file, and no channel tells its stop.
ring=$data/ring4
is "ring: pairs" "$(ops "$ring" | jq -s -c '[.[] | select(.kind == "pair") | [.src, .dst, .confidence, (.ranks | length)]] | sort')" \
    '[[0,1,1,2],[1,2,1,2],[2,3,1,2],[3,0,1,2]]'
is "ring: one fan-out" "$(ops "$ring" | jq -s -c '[.[] | select(.kind == "fanout") | [.func, (.ranks | map(.rank))]]')" '[["SendRecv",[0,1,2,3]]]'
is "ring: channels" "$(ops "$ring" | jq -s -c '[.[] | select(.kind == "pair") | .ranks[].channels] | [length, add]')" '[8,128]'
# Down to the channels: each pair shows the 16 of its send and of its receive, each read behind its start on the GPU.
for op in $(ops "$ring" | jq -r 'select(.kind == "pair") | .op'); do
    ops "$ring" --op "$op" --tree | jq -c 'select(.type == "GPU") | [.global_rank, .gpu_start_ns <= .start_ns]'
done | sort | uniq -c | tr -s ' ' >"$TMP/tree"
is "ring: tree" "$(tr '\n' ';' <"$TMP/tree")" ' 32 [0,true]; 32 [1,true]; 32 [2,true]; 32 [3,true];'
# Launches 0 to 3 are of ranks 3, 2, 1, 0: each is known by its return.
is "ring: launches" "$(ops "$ring" | jq -s -c '.[] | select(.kind == "fanout") | .ranks | sort_by(.launched_ns) | map([.rank, (.launched_ns / 100 | round)])')" \
    '[[3,18040441],[2,18088546],[1,18138212],[0,18185409]]'
# The ends are bounded by the next sleep of each rank's proxy thread. The axis is the process's own.
is "ring: ends" "$(ops "$ring" | jq -s -c '[.[] | select(.kind == "pair") | .ranks[] | [.rank, .end_ns, .end_before_ns]] | unique')" \
    '[[0,null,1827149591],[1,null,1822436480],[2,null,1817480801],[3,null,1826698151]]'
is "ring: destruction" "$("$RINGSCOPE" comms --json "$ring" | jq -c '[.members[] | [(.destroyed_ns / 1000 | round), .destroyed_source]]')" \
    '[[2354325,"end of the last proxy sleep"],[2355953,"end of the last proxy sleep"],[2355411,"end of the last proxy sleep"],[2354412,"end of the last proxy sleep"]]'
is "ring: creation" "$("$RINGSCOPE" comms --json "$ring" | jq -c '[.created_ns, .created_source, .destroyed_ns]')" '[0,"first init of the process",2355952827]'
"$RINGSCOPE" comms "$ring" >"$TMP/text"
is "ring: comms says how times are known" "$(grep -c -e 'first init of the process' -e 'last proxy sleep' "$TMP/text")" 2
# GPU clocks 8.95 s apart. A kernel starts behind the return of its launch and before its start was read; all of that lies
# within 25 ms on the host.
is "ring: GPU clocks apart" "$("$RINGSCOPE" clocks --json "$ring" | jq -s '[.[].gpu_offset_ns] | (max - min) / 1e7 | round')" 895
is "ring: the host is the axis" "$("$RINGSCOPE" clocks --json "$ring" | jq -s -c 'map([.offset_ns, .error_ns, .host_method]) | unique')" '[[0,0,"reference"]]'
is "ring: starts" "$(ops "$ring" | jq -s -c '[.[] | select(.kind == "pair") | .ranks[]
    | select(.start_ns < .launched_ns or .start_ns > .launched_ns + 8e6 or .clock_error_ns > 4e6)] | length')" 0

# oneprocess4: four ranks on one thread, then two halves. Broadcasts are told as calls only (NCCL 2.30).
one=$data/oneprocess4
is "one process: family" "$("$RINGSCOPE" comms --json "$one" 2>"$TMP/err" | jq -s -c 'map([.comm, .parent.comm, .parent.color, (.members | map(.global_rank))])')" \
    '[["0x3d4d44cf6af111f0",null,null,[0,1,2,3]],["0xf902afc82d9829ab","0x3d4d44cf6af111f0",0,[0,2]],["0x50834f157f04b1ea","0x3d4d44cf6af111f0",1,[1,3]]]'
is "one process: collectives" "$(ops "$one" | jq -s -c '[.[] | select(.kind == "coll") | (.ranks | length) == .nranks] | group_by(.) | map([.[0], length])')" '[[true,8]]'
is "one process: calls" "$(ops "$one" | jq -s -c '[.[] | select(.kind == "api") | [.func, .seq, (.ranks | length)]] | sort | unique')" \
    '[["Broadcast",0,2],["Broadcast",1,2],["Broadcast",2,2]]'
is "one process: nothing is called missing" "$(ops "$one" | jq -s '[.[] | select(.missing != [])] | length')" 0
is "one process: one pid" "$("$RINGSCOPE" clocks --json "$one" 2>"$TMP/err" | jq -s -c 'map(.pid) | unique')" '[692]'

# ddp4: four processes, on one GPU, as it happens: their four views of its clock agree within what they state.
ddp=$data/ddp4
is "ddp: straggler" "$("$RINGSCOPE" report --json "$ddp" 2>"$TMP/err" | jq -c '.stragglers | max_by(.cost_ns) | .global_rank // .rank')" 2
is "ddp: straggler of the default group" "$("$RINGSCOPE" report --json --func AllReduce --comm 0x784d8cf2764f3ad2 "$ddp" 2>"$TMP/err" |
    jq -c '.stragglers | max_by(.cost_ns) | .global_rank // .rank')" 2
is "ddp: clocks" "$("$RINGSCOPE" clocks --json "$ddp" 2>"$TMP/err" | jq -s -c '[.[] as $a | .[] as $b
    | select(($a.gpu_offset_ns - $b.gpu_offset_ns | fabs) > $a.gpu_error_ns + $b.gpu_error_ns)] | length')" 0
is "ddp: collectives that lack a rank" "$(ops "$ddp" | jq -s '[.[] | select(.kind == "coll" and (.ranks | length) != .nranks)] | length')" 0
is "ddp: nothing is called missing" "$(ops "$ddp" | jq -s '[.[] | select(.missing != [])] | length')" 0

# Damage: what is whole is used, and the file, the byte and the reason are said.
mkdir "$TMP/cut"
head -c 30000 "$ring"/*_0.json >"$TMP/cut/dump_12715772615376301750_0.json"
cp "$ring"/*_1.json "$TMP/cut/dump_12715772615376301750_1.json"
is "cut: sends are kept" "$(ops "$TMP/cut" | jq -s '[.[] | select(.kind == "pair")] | length > 1')" true

# A rank starts the kernels of a communicator in the order of their launches; times of older work are not used. (The
# all-to-alls take about 0.1 ms, as PyTorch's profiler saw them.)
is "ddp: starts before those of earlier launches" "$(ops "$ddp" | jq -s '[.[] | .comm as $comm | .ranks[]
    | select(.start_source == "kernel" and (.stale_timer | not)) | [$comm, .pid, .launch, .start_ns]] | group_by(.[0:2]) | map(group_by(.[2]) | map(map(.[3]) | min)
    | . as $s | [range(1; length) | select($s[.] < $s[. - 1] - 5000)] | length) | add')" 0
is "ddp: all-to-alls" "$(ops "$ddp" | jq -s '[.[] | select(.func == "AlltoAll").ranks[].duration_ns | select(. > 1e6)] | length <= 1')" true

# Dumps of gen: GPUs and processes with clocks of their own, seconds apart; the same pids on both hosts.
gen() { # OPTIONS...
    rm -rf "$TMP/run"
    "$RINGSCOPE" gen --as example -n 8 --hosts 2 --truth-times -o "$TMP/run" "$@" >"$TMP/log" || { cat "$TMP/log"; bad=1; }
}
for seed in 1 2 3; do
    gen --seed $seed --slow 3:700
    is "gen $seed: straggler" "$("$RINGSCOPE" report --json "$TMP/run" | jq -c '.stragglers | max_by(.cost_ns) | .global_rank // .rank')" 3
    is "gen $seed: complete" "$(ops "$TMP/run" | jq -s -c '[.[] | [.func, .complete, (.ranks | length)]] | unique')" '[["AllReduce",true,8]]'
    is "gen $seed: operations" "$(ops "$TMP/run" | wc -l)" "$(jq '.operations | length' "$TMP/run/truth.json")"
    # Starts and ends of all ranks, against each other: off by less than the clocks state.
    ops "$TMP/run" | jq -s --slurpfile truth "$TMP/run/truth.json" '
        (reduce $truth[0].operations[] as $o ({}; .["\($o[3])"] = $o)) as $true | [.[] | $true["\(.seq)"] as $o | .ranks as $r
        | range(1; 8) | . as $i | ($r[$i].start_ns - $r[0].start_ns - ($o[-2][$i] - $o[-2][0]) | fabs) as $off
        | [$off > $r[$i].clock_error_ns + $r[0].clock_error_ns, $r[$i].clock_error_ns]]
        | [length, (map(select(.[0])) | length), (map(.[1]) | max)]' -c >"$TMP/off"
    jq -e '.[0] == 560 and .[1] <= 5 and .[2] < 20000' "$TMP/off" >/dev/null ||
        { echo "gen $seed: [starts, off by more than stated, largest error] $(cat "$TMP/off")"; bad=1; }
done
gen -w tpdp
is "gen tpdp: lack a rank" "$(ops "$TMP/run" | jq -s '[.[] | select(.complete | not)] | length')" 0
is "gen tpdp: ranks of the job" "$("$RINGSCOPE" comms --json "$TMP/run" | jq -s -c 'map(.members[].global_rank) | group_by(.) | map(length)')" '[3,3,3,3,3,3,3,3]'
gen -w mix
is "gen mix: lack a rank" "$(ops "$TMP/run" | jq -s '[.[] | select(if .kind == "pair" then .src != .dst and (.ranks | length) != 2
    elif .kind == "coll" then (.ranks | length) != .nranks else false end)] | length')" 0
is "gen mix: violations" "$(ops "$TMP/run" | jq -s '[.[] | select(.violation or .mismatch)] | length')" 0
gen -w pipeline --devices-per-process 4
is "gen, four GPUs a process: pairs" "$(ops "$TMP/run" | jq -s -c '[.[] | select(.kind == "pair") | [(.ranks | length), .confidence]] | unique')" '[[2,1]]'
is "gen, four GPUs a process: processes" "$("$RINGSCOPE" clocks --json "$TMP/run" | jq -s -c 'map([.pid, .offset_ns]) | unique | length')" 2
# Two jobs: their clocks cannot be tied, and a process that counts from its start has no wall time.
"$RINGSCOPE" gen --as example -n 4 --steps 3 --seed 7 -o "$TMP/other" >/dev/null
is "clocks without wall time" "$("$RINGSCOPE" ops "$TMP/run" "$TMP/other" 2>&1 >/dev/null | grep -c 'which is not wall time')" 1
"$RINGSCOPE" gen --as example --hang dead@3 -o "$TMP/no" >/dev/null 2>&1 && { echo "dumps of a hang are made"; bad=1; }
exit $bad
