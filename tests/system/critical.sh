#!/bin/bash
# The critical path: its segments sum to the window, the straggler of synthetic runs lies on it with the time that it was
# slow, and the rank that sleeps in the traces of a real job.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data
run=$TMP/run

critical() { "$RINGSCOPE" critical --json "$@" >"$TMP/path" 2>"$TMP/err" || { cat "$TMP/err"; echo "critical $* failed"; bad=1; }; }
gen() { # OPTION...: a run into $run, its path into $TMP/path
    rm -rf "$run"
    "$RINGSCOPE" gen -n 16 --hosts 4 "$@" -o "$run" >"$TMP/log" || { cat "$TMP/log"; exit 1; }
    critical "$run"
}
whole() { # WHAT: segments end to end, rows and segments sum to the window
    is "$1: sums" "$(jq -c '[([.by[].ns] | add) - .window_ns, ([.segments[].ns] | add) - .window_ns, (([.by[].pct] | add) - 100 | fabs < 1e-6),
        ([.by[].segments] | add) - (.segments | length)]' "$TMP/path")" '[0,0,true,0]'
    is "$1: end to end" "$(jq -r '.from_ns, (.segments[] | .from_ns, .to_ns), .to_ns' "$TMP/path" | paste - - | awk '$1 != $2' | wc -l)" 0
}
owner='[.by[] | select(.kind != "transfer" and .kind != "operation")] | group_by(.rank) | map([.[0].rank, (map(.ns - .tie_ns) | add)])
    | sort_by(-.[1])[0]' # the rank with most time of its own, and that

for workload in ddp tpdp pipeline alltoall graph mix; do
    for seed in 1 2; do
        gen -w $workload --slow 5:2000 --steps 12 --seed $seed
        whole "$workload, seed $seed"
        # Slow by 2 ms in each of 12 steps; ties, and in a pipeline bubbles of others, may hide some of it.
        is "$workload, seed $seed: the slow rank" "$(jq -c "$owner | [.[0], .[1] > 16000000]" "$TMP/path")" '[5,true]'
        # In every step it is last in the first all-to-all, by its 2 ms: with what it computes, but for the first step, 32.8 ms.
        [ $workload != alltoall ] || is "alltoall, seed $seed: its time" "$(jq "${owner}[1] / 1e6 | . > 32.3 and . < 33.8" "$TMP/path")" true
        # Stages of a pipeline have few equals, and twelve steps of the mix are two of each kind: too few to name anybody.
        [ $workload = pipeline ] || [ $workload = mix ] ||
            is "$workload, seed $seed: named" "$(jq -r '.conclusion[0] | test("^Rank 5 .* delays the others")' "$TMP/path")" true
    done
done

# Where all ranks meet in every operation, the truth tells the time of the slow rank on the path: from the end of an
# operation (or the first start of all) to its start of the next, where it was the last by more than clocks can be off.
for seed in 3 4 5; do
    gen -w ddp --slow 9:1500 --steps 12 --seed $seed --truth-times
    whole "truth, seed $seed"
    truth=$(jq --argjson tie "$(jq '.error_ns * 2' "$TMP/path")" '[.operations[] | {starts: .[11], ends: .[12]}] as $o
        | [range($o | length) | ($o[.].starts | sort) as $s | select($s[-1] - $s[-2] > $tie and $o[.].starts[9] == $s[-1])
        | $o[.].starts[9] - if . > 0 then $o[. - 1].ends[9] else $s[0] end] | add' "$run/truth.json")
    is "time of the slow rank, seed $seed" "$(jq --argjson t "$truth" "$owner | .[0] == 9 and (.[1] / \$t - 1 | fabs < 0.02)" "$TMP/path")" true
    # A program that is slow: before the launch, not behind it.
    gen -w ddp --slow-cpu 9:1500 --steps 12 --seed $seed
    is "slow program, seed $seed" "$(jq -c '.by[0] | [.rank, (.name | test("not launched yet"))]' "$TMP/path")" '[9,true]'
    gen -w ddp --steps 12 --seed $seed
    is "nobody, seed $seed" "$(jq -r '.conclusion[0] | test("^No rank stands out")' "$TMP/path")" true
done

# Losses, late starts, one rank without a recording: whole all the same.
gen -w tpdp --slow 5:2000 --steps 12 --drop 0.05 --late 3@4 --no-recording 7
whole "losses"
# A window, and filters.
gen -w ddp --slow 5:2000 --steps 12
all=$(jq .window_ns "$TMP/path")
critical --from 150ms --to 165ms "$run"
whole "window"
is "window" "$(jq --argjson all "$all" '.window_ns <= 15000000 and .window_ns > 0 and .window_ns < $all' "$TMP/path")" true
critical --rank 0-3 "$run"
whole "some ranks"
is "some ranks" "$(jq -c '[.ranks, ([.by[].rank] | unique - [0, 1, 2, 3]), any(.by[]; .kind == "wait")]' "$TMP/path")" '[4,[],true]'
critical --from 0s --to 1ns "$run"
is "nothing there" "$(jq -c '[.window_ns, .by, .segments, (.conclusion | length)]' "$TMP/path")" '[0,[],[],1]'
is "text" "$("$RINGSCOPE" critical "$run" 2>&1 | grep -c '^critical path of ')" 1

# Real ones.
for folder in h200-mix h200-ddp; do
    critical "$data/$folder"
    whole "$folder"
done
# Rank 2 sleeps for 40 ms in each of five steps, in part behind work that its GPU still has: the GPU is idle for more than
# 120 ms of it.
critical "$data/kineto"/*.gz
whole "kineto"
is "kineto: who sleeps" "$(jq -c "[.activities, ($owner | .[0] == 2 and .[1] > 120000000)]" "$TMP/path")" '[true,true]'
# What the others waited for a rank, in all views of a job: about what the report says that it cost. Rank 3 has the longest
# time outside operations on the path of the dumps, at the start, where all ranks take long: it is not who holds them up.
for folder in kineto example/ddp4 h200-overlay/rec h200-overlay/kineto; do
    critical "$data/$folder"
    whole "$folder"
    # Three profiled steps are too few to name anybody.
    is "$folder: which rank delays the others" "$(jq -r '.conclusion[0] | test("^Rank 2 .* delays the others")' "$TMP/path")" \
        "$([ $folder = h200-overlay/kineto ] && echo false || echo true)"
    cost=$("$RINGSCOPE" report --json "$data/$folder" 2>/dev/null | jq '.stragglers[0].cost_ns')
    is "$folder: how long" "$(jq --argjson cost "$cost" '([.by[] | select(.rank == 2).alone_ns] | add) / $cost
        | . > 0.65 and . < 1.05' "$TMP/path")" true
done
# A trace of three steps beside a recording of the whole run: nothing is said of GPUs and hosts where it was not on.
critical "$data/h200-overlay/rec" "$data/h200-overlay/kineto"
whole "overlay"
from=$("$RINGSCOPE" critical --json "$data/h200-overlay/kineto" 2>/dev/null | jq '.from_ns')
is "overlay: gaps outside the trace" "$(jq --argjson from "$from" '[.segments[] | select(.kind == "gap" and .to_ns < $from - 10000000)]
    | length' "$TMP/path")" 0
exit $bad
