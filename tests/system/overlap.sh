#!/bin/bash
# ringscope overlap: the figures of Holistic Trace Analysis on four real traces, sums that add up, pipelines with a known
# score, and inputs that do not show compute.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data
work=$TMP

exits() { # STATUS COMMAND...
    local want=$1 got
    shift
    "$@" >"$work/out" 2>"$work/err"
    got=$?
    is "exit status of $*" "$got" "$want"
}

# ---- what Holistic Trace Analysis says of the same files: overlap +-0.02, idle +-0.05 ----
"$RINGSCOPE" overlap --json "$data"/kineto/kineto_rank?.json.gz >"$work/k.jsonl" || bad=1
is "a line a rank" "$(jq -s -c 'map(.rank)' "$work/k.jsonl")" '[0,1,2,3]'
is "overlap" "$(jq -s -c '[[.[].overlap_pct], [0.48, 0.46, 1.11, 0.49]] | transpose
    | map(.[0] - .[1] | . > -0.02 and . < 0.02)' "$work/k.jsonl")" '[true,true,true,true]'
is "idle" "$(jq -s -c '[map(100 * .idle_ns / .span_ns), [5.94, 5.54, 54.69, 6.68]] | transpose
    | map(.[0] - .[1] | . > -0.05 and . < 0.05)' "$work/k.jsonl")" '[true,true,true,true]'
is "idle_pct" "$(jq -s -c 'map((.idle_pct - 100 * .idle_ns / .span_ns) | . * . < 1e-12) | unique' "$work/k.jsonl")" '[true]'

# To the ns, by the union of all spans of each trace (times of the traces are in us with three digits).
exact() { # RANK
    zcat "$data/kineto/kineto_rank$1.json.gz" | jq -c '
        def cover: sort | reduce .[] as $s ([]; if length > 0 and $s[0] <= .[-1][1]
            then .[-1][1] = ([.[-1][1], $s[1]] | max) else . + [$s] end);
        def long: map(.[1] - .[0]) | add // 0;
        (.traceEvents | map(select(.cat == "kernel" or .cat == "gpu_memcpy" or .cat == "gpu_memset"))) as $all
        | ($all | map(.ts) | min) as $zero
        | ($all | map({nccl: (.name | test("^nccl")), kernel: (.cat == "kernel"),
            span: [(.ts - $zero) * 1000, (.ts - $zero + .dur) * 1000]})) as $all
        | ($all | map(select(.kernel and (.nccl | not)).span) | cover | long) as $compute
        | ($all | map(select(.kernel and .nccl).span) | cover | long) as $comm
        | ($all | map(select(.kernel).span) | cover | long) as $both
        | ($all | map(.span) | cover) as $busy
        | [$compute, $comm, $compute + $comm - $both, $busy[-1][1] - $busy[0][0] - ($busy | long)]'
}
for rank in 0 2; do
    is "rank $rank to the ns" "$(jq -c --argjson truth "$(exact $rank)" "select(.rank == $rank) | .exact
        | [[.compute_ns, .comm_ns, .overlap_ns, .idle_ns], \$truth] | transpose
        | map(.[0] - .[1] | . * . < 1e6) | unique" "$work/k.jsonl")" '[true]'
done

# ---- sums ----
is "exposed" "$(jq -s -c 'map(., .exact) | map(.exposed_wait_ns + .exposed_transfer_ns + .exposed_unknown_ns == .exposed_comm_ns
    and .exposed_comm_ns + .overlap_ns == .comm_ns
    and .comm_wait_ns + .comm_transfer_ns + .comm_unknown_ns == .comm_ns) | unique' "$work/k.jsonl")" '[true]'
is "kernels" "$(jq -s -c 'map([.kernels, .comm_kernels, .copies]) | unique' "$work/k.jsonl")" '[[550,60,145]]'
# Rank 2 computes longest outside of NCCL: the others wait for it, about the 129 ms of the report, and it for nobody.
is "who waits" "$(jq -s -c 'map(.exposed_wait_ns > 110e6)' "$work/k.jsonl")" '[true,true,false,true]'
is "the conclusion" "$(jq -s '.[0].conclusion | map(select(test("wait for rank 2"))) | length' "$work/k.jsonl")" 1
is "gaps are idle" "$(jq -s -c 'map(.launches | .launch_gaps.ns + .host_gaps.ns + .other_gaps.ns) as $gaps
    | [$gaps, map(.exact.idle_ns)] | transpose | map(.[0] <= .[1] and .[0] > 0.98 * .[1]) | unique' "$work/k.jsonl")" '[true]'
is "annotations" "$(jq -s -c 'map(.annotations[] | select(.name == "nccl:all_reduce") | .calls) | unique' "$work/k.jsonl")" '[45]'
is "synchronised" "$(jq -s -c 'map(.launches.synchronised) | unique' "$work/k.jsonl")" '["no"]'
is "--exact" "$("$RINGSCOPE" overlap --exact --json "$data"/kineto/kineto_rank?.json.gz |
    jq -s -c 'map(.grain_ns == 1 and .overlap_pct == .exact.overlap_pct) | unique')" '[true]'
# One rank alone: it cannot be told what is waiting.
is "one rank" "$("$RINGSCOPE" overlap --json "$data/kineto/kineto_rank1.json.gz" |
    jq -c '[.exposed_wait_ns, .exposed_transfer_ns, .exposed_unknown_ns == .exposed_comm_ns]')" '[null,null,true]'
is "--rank" "$("$RINGSCOPE" overlap --json --rank 1,3 "$data"/kineto/kineto_rank?.json.gz | jq -s -c 'map(.rank)')" '[1,3]'
is "--to" "$("$RINGSCOPE" overlap --json --to 50ms "$data"/kineto/kineto_rank?.json.gz |
    jq -s -c 'map(.span_ns <= 50000000 and .kernels < 550) | unique')" '[true]'

# ---- kernels by name: sums made from the JSON alone (ns of each event: its us times 1000) ----
by_name() { # RANK
    zcat "$data/kineto/kineto_rank$1.json.gz" | jq -c '[.traceEvents[]
            | select(.ph == "X" and (.cat == "kernel" or .cat == "gpu_memcpy" or .cat == "gpu_memset"))
            | {name, comm: (.cat == "kernel" and (.name | test("^nccl"))), ns: (.dur * 1000 | round)}]
        | (map(.ns) | add) as $all | {gpu: $all, comm: (map(select(.comm).ns) | add / $all * 1e6 | round),
            top: (group_by(.name) | map([.[0].name, length, (map(.ns) | add), (map(.ns) | add / $all * 1e6 | round),
                (map(.ns) | sort | .[(length - 1) / 2 | floor]), (map(.ns) | max)]) | sort_by([-.[2], .[0]]))}'
}
"$RINGSCOPE" overlap --json --warmup 0 "$data"/kineto/kineto_rank?.json.gz >"$work/w.jsonl" || bad=1
for rank in 0 2; do
    is "kernels of rank $rank by name" "$(jq -c "select(.rank == $rank)"' | {gpu: .gpu_time_ns, comm: (.comm_share * 1e6 | round),
        top: (.top_kernels | map([.name, .calls, .total_ns, (.share * 1e6 | round), .time_ns.p50, .longest_ns])
            | sort_by([-.[2], .[0]]))}' "$work/w.jsonl")" "$(by_name $rank)"
    is "the longest first" "$(jq -c "select(.rank == $rank)"' | .top_kernels | map(-.total_ns) | . == sort' "$work/w.jsonl")" true
done
is "kinds" "$(jq -s -c '.[0].top_kernels | [(map(select(.kind == "comm").name) | all(test("^nccl"))),
    (map(select(.kind == "compute").name) | any(test("^nccl|^Mem"))), (map(.kind) | unique)]' "$work/w.jsonl")" \
    '[true,false,["comm","compute","copy","set"]]'
is "one role" "$(jq -s -c 'map(.role) | unique' "$work/w.jsonl")" '[0]'
is "--top" "$("$RINGSCOPE" overlap --json --top 3 "$data"/kineto/kineto_rank?.json.gz | jq -s -c 'map(.top_kernels | length) | unique')" '[3]'
# The table of the role: the means of the ranks.
is "the table" "$("$RINGSCOPE" overlap --warmup 0 --top 1 "$data"/kineto/kineto_rank?.json.gz | awk '/^top kernels of ranks 0-3:/ { print $6, $7, $13
    getline; getline; print $1, $2, $3, $4 }' | paste -sd ' ')" "$(jq -r -s '(map(.gpu_time_ns) | add) as $all
    | [.[].top_kernels[] | select(.name | startswith("ncclDevKernel_AllReduce")).total_ns] | [$all / 4e6, add / 4e6, 100 * add / $all]
    | map(. * 10 | round / 10) | "\(.[0] | round) ms \($c) \(.[1] | round) ms \(.[2]) %"' --arg c "$(jq -r -s '100 * (map(.comm_share * .gpu_time_ns) | add)
    / (map(.gpu_time_ns) | add) * 10 | round / 10' "$work/w.jsonl")" "$work/w.jsonl")"
is "no kernels" "$("$RINGSCOPE" overlap --json "$data/h200-ddp" | jq -s -c 'map([.gpu_time_ns, .comm_share, .top_kernels]) | unique')" '[[null,null,[]]]'

# Dumps of NCCL's example profiler of the same job laid over: still a line a rank, with the work that the traces show.
"$RINGSCOPE" overlap --json "$data"/kineto/kineto_rank?.json.gz "$data/example/ddp4" >"$work/o.jsonl" 2>"$work/err" || bad=1
is "laid over" "$(jq -s -c 'map([.rank, .kernels, .comm_kernels])' "$work/o.jsonl")" '[[0,550,60],[1,550,60],[2,550,60],[3,550,60]]'
is "laid over: times" "$(jq -s -c '[.[0:4], .[4:8]] | map(map(.exact | [.compute_ns, .comm_ns])) | transpose
    | map([.[0], .[1]] | transpose | map(.[0] - .[1] | . > -20000 and . < 20000)) | flatten | unique' "$work/k.jsonl" "$work/o.jsonl")" '[true]'

# ---- recordings: communication alone ----
"$RINGSCOPE" overlap --json "$data/h200-ddp" >"$work/r.jsonl" 2>"$work/err" || bad=1
is "no compute" "$(jq -s -c 'map([.compute_ns, .overlap_pct, .exposed_comm_ns, .exposed_wait_ns, .idle_ns, .launches])
    | unique' "$work/r.jsonl")" '[[null,null,null,null,null,null]]'
is "comm of recordings" "$(jq -s -c 'map(.comm_ns > 0 and .comm_wait_ns + .comm_transfer_ns + .comm_unknown_ns == .comm_ns)
    | unique' "$work/r.jsonl")" '[true]'
is "why" "$(jq -s '.[0].conclusion | map(select(test("NCCL does not report compute"))) | length' "$work/r.jsonl")" 1

# Waits below the clock error (ops: "<424 us", a tie) are neither wait nor transfer.
is "below the clock error" "$("$RINGSCOPE" overlap --json "$data/kineto/formats" |
    jq -s -c 'map([.exposed_wait_ns, .exposed_transfer_ns, .exposed_unknown_ns == .exposed_comm_ns]) | unique')" '[[null,null,true]]'

# Waiting and transfer of a job whose truth is known, through join and clocks: right within the error that is stated, or
# not known.
for seed in 1 2 3; do
    "$RINGSCOPE" gen -n 8 --hosts 2 --slow 3:700 --steps 12 --seed $seed --truth-times -f -o "$work/gen" >/dev/null || bad=1
    "$RINGSCOPE" overlap --json "$work/gen" 2>/dev/null | jq -s --slurpfile truth "$work/gen/truth.json" '[$truth[0].operations[]
        | [.[11], .[12]]] as $o | map(.rank as $r | ([$o[] | (.[0] | max) - .[0][$r]] | add) as $wait
        | ([$o[] | .[1][$r] - (.[0] | max)] | add) as $transfer | .wait_error_ns < 1e6 and .comm_unknown_ns < .comm_ns / 10
        and ([[.comm_wait_ns, $wait], [.comm_transfer_ns, $transfer]] as $both | .wait_error_ns as $e | .comm_unknown_ns as $u
        | $both | all(.[0] <= .[1] + $e and .[1] <= .[0] + $u + $e))) | [length, all]' -c >"$work/split"
    is "wait and transfer against the truth, seed $seed" "$(cat "$work/split")" '[8,true]'
done

# ---- pipelines from a file: rank 0 pipelined, 1 serialised, 2 half, 3 with a bubble; stages of 600 and 1000 ns ----
{
    echo "rank,chunk,name,start_ns,end_ns"
    for rank in 0 1 2 3; do
        period=$((rank == 0 ? 1000 : rank == 1 ? 1600 : rank == 2 ? 1300 : 2000))
        for chunk in 0 1 2 3 4 5 6 7; do
            at=$((chunk * period + 50))
            echo "$rank,$chunk,load,$at,$((at + 600))"
            echo "$rank,$chunk,run,$((at + 600)),$((at + 1600))"
        done
    done
} >"$work/stages.csv"
"$RINGSCOPE" overlap --json --stages "$work/stages.csv" >"$work/s.jsonl" || bad=1
is "scores" "$(jq -s -c 'map(.pipeline | [.period_ns.p50, .hidden_ns, .bubble_ns, .overlap_score, .verdict, .periods, .warmup])' "$work/s.jsonl")" \
    '[[1000,600,0,1,"pipelined",6,1],[1600,0,0,0,"serialised",6,1],[1300,300,0,0.5,"partly",6,1],[2000,0,400,0,"serialised",6,1]]'
is "stages" "$(jq -s -c 'map(.pipeline.stages | map([.name, .time_ns.p99])) | unique' "$work/s.jsonl")" '[[["load",600],["run",1000]]]'
is "scores in the table" "$("$RINGSCOPE" overlap --stages "$work/stages.csv" | awk '/^bubbles/ { exit } $1 ~ /^[0-3]$/ { print $1, $NF, / (1\.00|0\.[05]0) / }' | paste -sd ';')" \
    "0 pipelined 1;1 serialised 1;2 partly 1;3 serialised 1"
exits 3 "$RINGSCOPE" overlap --stages "$work/stages.csv" --fail-under 0.30
exits 0 "$RINGSCOPE" overlap --stages "$work/stages.csv" --fail-under 0.30 --rank 0,2
exits 3 "$RINGSCOPE" overlap --stages "$work/stages.csv" --fail-under 0.51 --rank 2
# The same as JSON Lines with begins and ends in us, and a line that makes no sense.
{
    awk -F, 'NR > 1 { printf "{\"rank\":%s,\"chunk\":%s,\"name\":\"%s\",\"event\":\"begin\",\"time_us\":%.3f}\n", $1, $2, $3, $4 / 1000
        printf "{\"name\":\"%s\",\"event\":\"end\",\"time_us\":%.3f,\"chunk\":%s,\"rank\":%s}\n", $3, $5 / 1000, $2, $1 }' "$work/stages.csv"
    echo '{"rank":0,"chunk":0,"name":"x","event":"soon","time_us":1}'
} >"$work/stages.jsonl"
is "JSON Lines" "$("$RINGSCOPE" overlap --json --stages "$work/stages.jsonl" 2>"$work/err" | jq -s -c 'map(.pipeline)')" \
    "$(jq -s -c 'map(.pipeline)' "$work/s.jsonl")"
is "the line that makes no sense" "$(grep -c "stages.jsonl: line 129: the event is 'soon'" "$work/err")" 1

# ---- torch.compile: a model with two graph breaks per call, and new shapes in steps 3 and 5; and one without ----
compiled() { "$RINGSCOPE" overlap --warmup 0 --json "$data/kineto/compile/$1.json.gz" 2>/dev/null; }
is "graph breaks" "$(compiled broken | jq -c '.compile | [.regions, .graph_breaks, .compilations, .recompilations]')" '[6,12,6,6]'
is "time of compilations" "$(compiled broken | jq -c '.compile | [.compile_ns, .longest_ns]')" "$(zcat "$data/kineto/compile/broken.json.gz" |
    jq -c '[.traceEvents[] | select(.name | startswith("_compile.compile_inner")).dur * 1000 | round] | [add, max]')"
is "no graph breaks" "$(compiled whole | jq -c '.compile | [.regions, .graph_breaks, .compilations, .compile_ns]')" '[4,0,0,0]'
is "said" "$(compiled broken | jq -c '.conclusion | map(select(test("recompiled 6 times|12 graph breaks in 6 calls"))) | length')" 2
is "not said" "$(compiled whole | jq -c '.conclusion | map(select(test("torch.compile"))) | length')" 0
is "no compiled code" "$(jq -s -c 'map(.compile) | unique' "$work/k.jsonl")" '[null]'

# ---- stretches: launches of 20 short kernels 20 us apart, then 3 ms in which the host does something else, then a long kernel ----
jq -n -c '[range(20) | {t: (. * 20), d: 4}] + [{t: 3400, d: 500}, {t: 3905, d: 500}] | to_entries | map(
        {ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 9, tid: 9, ts: (if .key == 21 then 3420 else .value.t + 90 end), dur: 5, args: {correlation: (.key + 1)}},
        {ph: "X", cat: "kernel", name: "k", pid: 0, tid: 7, ts: (.value.t + 100), dur: .value.d, args: {device: 0, stream: 7, correlation: (.key + 1)}})
    | {schemaVersion: 1, distributedInfo: {rank: 0, world_size: 1}, traceEvents: (. + [{ph: "X", cat: "user_annotation", name: "load", pid: 9, tid: 9, ts: 600, dur: 2800}])}' >"$work/bound.json"
is "stretches" "$("$RINGSCOPE" overlap --json "$work/bound.json" 2>/dev/null | jq -c '.from_ns as $zero | .stretches | map([.kind, .from_ns - $zero, .to_ns - $zero, .idle_ns, .kernels, .host_did])')" \
    '[["host_bound",384000,3400000,3016000,0,"load"],["launch_bound",0,384000,304000,20,null]]'
is "gaps of launches" "$("$RINGSCOPE" overlap --json "$work/bound.json" 2>/dev/null | jq -c '.launches | [.launch_gaps, .host_gaps, .other_gaps] | map([.count, .ns])')" \
    '[[19,304000],[1,3016000],[1,5000]]'

# ---- no pipeline: data parallel, with one small ring of sends and receives per step ----
is "a ring per step" "$(jq -s -c 'map(.pipeline) | unique' "$work/k.jsonl")" '[null]'
for rank in 0 1 2 3; do # the same without steps: each trace alone, and only its last 60 % (one or two steps)
    is "a ring per step, rank $rank alone" "$("$RINGSCOPE" overlap --json --from 100ms "$data/kineto/kineto_rank$rank.json.gz" 2>/dev/null | jq -c .pipeline)" null
done

# ---- stages by name ----
"$RINGSCOPE" overlap --json --stage a='nccl:all_gather' --stage b='nccl:all_to_all' "$data"/kineto/kineto_rank?.json.gz >"$work/n.jsonl" || bad=1
is "stages by name" "$(jq -s -c 'map(.pipeline | [.source, .chunks, .verdict, .bubble_ns > 0]) | unique' "$work/n.jsonl")" \
    '[["names",5,"serialised",true]]'
exits 1 "$RINGSCOPE" overlap --stage a='nosuchname' --stage b='nccl*' --fail-under 0.3 "$data"/kineto/kineto_rank?.json.gz
is "why there is no score" "$(grep -c 'nothing matches stage a (nosuchname)' "$work/err")" 1

# ---- usage ----
exits 2 "$RINGSCOPE" overlap
exits 2 "$RINGSCOPE" overlap --stage nonsense "$data/kineto"
exits 2 "$RINGSCOPE" overlap --stages "$work/stages.csv" --stage a=b
exits 2 "$RINGSCOPE" overlap --stages "$work/stages.csv" --fail-under 30
exits 1 "$RINGSCOPE" overlap --stages "$work/none.csv"
echo "a,b" >"$work/bad.csv"
exits 1 "$RINGSCOPE" overlap --stages "$work/bad.csv"
exit $bad
