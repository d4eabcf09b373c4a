#!/bin/bash
# Start-up and one-offs against the truth of synthetic runs: which steps are left out, which took longer, who paused, for how
# long, and whether that recurs. Clean runs have neither. SEEDS: how many seeds of each.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
run=$TMP/run

gen() { # WORKLOAD OPTION...: a run of 40 steps into $run, its report into $TMP/report
    rm -rf "$run"
    "$RINGSCOPE" gen --events ops --steps 40 -w "$@" -o "$run" >"$TMP/log" || { cat "$TMP/log"; bad=1; }
    "$RINGSCOPE" report --json "$run" >"$TMP/report" 2>/dev/null || { echo "report failed: gen -w $*"; bad=1; }
}
# WHAT FIELDS: each pause of the truth is found, and nothing else is, as [step, FIELDS]. In a pipeline a pause may appear in the
# step before it. Times are to 10 %; what all paused is what the first of them did, and they differ by 5 %.
held() {
    jq -r --slurpfile truth "$run/truth.json" --arg what "$1" --arg of "$2" '
        def near($a; $b): ($a - $b | fabs) <= 0.1 * $b;
        [.outlier_steps[] | select(.cause != "start_up" and .kind != "transfer" and .kind != null)] as $found
        | [$truth[0].one_offs[] | select(.[0] != "warm-up")] as $true
        | ($true[] | . as $t
            | [$found[] | select(.step == $t[1] or ($of == "pipeline" and .step == $t[1] - 1))][0] as $f
            | if $f == null then "\($what): nothing in step \($t[1])"
              elif $t[2] == null then select(($f.kind == "all_paused" and $f.pause_ns >= 0.8 * $t[4] and $f.pause_ns <= 1.05 * $t[4]) | not)
                  | "\($what): step \($t[1]): \($f.what)"
              else select(($f.kind == "rank_paused" and $f.rank == $t[2] and $f.ranks_paused == 1 and
                      ($of == "pipeline" or near($f.late_ns; $t[4]))) | not)
                  | "\($what): step \($t[1]): \($f.what)" end),
          # What a pause delays may be late in the next step of a pipeline.
          ($found[] | .step as $s | select(all($true[]; ($s - .[1] | fabs) > (if $of == "pipeline" then 1 else 0 end)))
              | "\($what): step \($s), which is as the others: \(.what)")' "$TMP/report" >"$TMP/said"
    [ -s "$TMP/said" ] || return
    cat "$TMP/said"
    bad=1
}
all() { jq -c "$1" "$TMP/report"; }

for seed in $(seq "${SEEDS:-1}"); do
    for workload in ddp tpdp pipeline alltoall graph; do
        gen $workload --seed "$seed"
        held "$workload, seed $seed, clean" $workload
        is "$workload, seed $seed, clean" "$(all '[.steps.warmup, .steps.after_ns, .steps.left_out]')" "[0,null,null]"

        gen $workload --seed "$seed" --warm-up 3:60000
        held "$workload, seed $seed, start-up" $workload
        is "$workload, seed $seed, start-up" "$(all '.steps | [.warmup, .warmup_auto, .startup, .count, .time_ns.p99 < 1.5 * .usual_ns]')" "[3,true,3,40,true]"
        [ $workload = alltoall ] || is "$workload, seed $seed, start-up: operations" "$(all .operations.count)" "$(jq '[.operations[] | select(.[6] >= 3)] | length' "$run/truth.json")"

        gen $workload --seed "$seed" --pause 3@12:20000 --pause all@25:30000
        held "$workload, seed $seed, pauses" $workload
        is "$workload, seed $seed, pauses" "$(all '[.steps.warmup, [.outlier_steps[] | select(.cause == "periodic")]]')" "[0,[]]"

        for who in all 2; do
            gen $workload --seed "$seed" --checkpoint $who@9:20000
            held "$workload, seed $seed, checkpoints of $who" $workload
            is "$workload, seed $seed, checkpoints of $who" "$(all '[.outlier_steps[] | select(.kind == "all_paused" or .kind == "rank_paused") | select(.step > 1) | .every] | unique')" "[9]"
        done
    done
done

# What is left out is said, once and in the same words, by all who leave it out; --warmup and a time decide.
gen ddp --warm-up 3:60000
left='the first 3 of 40 steps (start-up) are left out: '
for command in report critical overlap; do
    is "$command says it" "$("$RINGSCOPE" $command "$run" 2>/dev/null | grep -cF "$left")" 1
    is "$command --warmup 0" "$("$RINGSCOPE" $command --warmup 0 "$run" 2>/dev/null | grep -c 'are left out')" 0
    is "$command --from" "$("$RINGSCOPE" $command --from 0s "$run" 2>/dev/null | grep -c 'are left out')" 0
done
is "--warmup 5" "$("$RINGSCOPE" report --warmup 5 "$run" 2>/dev/null | grep -c '^the first 5 of 40 steps are left out: ')" 1
is "critical begins behind it" "$("$RINGSCOPE" critical --json "$run" 2>/dev/null | jq -c --argjson after "$(all .steps.after_ns)" '[.warmup, .from_ns >= $after]')" "[3,true]"
is "overlap counts it" "$("$RINGSCOPE" overlap --json "$run" 2>/dev/null | jq -s -c 'map(.steps | [.count, .warmup]) | unique')" "[[40,3]]"
exit $bad
