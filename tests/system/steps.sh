#!/bin/bash
# Steps against the truth: generated and played jobs of known length, real jobs whose programs are known. All commands
# count the same ones, and none is told where there is one step, or none.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=tests/data
run=$TMP/run

count() { # INPUT...: "COUNT FOUND_BY", if report, overlap and ops agree
    local of
    "$RINGSCOPE" report --json "$@" 2>/dev/null >"$TMP/report" || { echo "report failed"; return; }
    "$RINGSCOPE" overlap --json "$@" 2>/dev/null >"$TMP/overlap"
    "$RINGSCOPE" ops --json "$@" 2>/dev/null >"$TMP/ops"
    of=$(jq .steps.count "$TMP/report")
    is "steps in overlap, of ${*: -1}" "$(jq -s -c 'map(.steps.count // 0) | unique' "$TMP/overlap")" "[$of]"
    is "steps of operations, of ${*: -1}" "$(jq -s '[.[].found_step | values] | unique | length' "$TMP/ops")" "$of"
    jq -r '.steps | "\(.count) \(.found_by)"' "$TMP/report"
}
# Of $run, by what is written: for some hundred runs, and jq alone takes longer to start than all else.
steps_found() { "$RINGSCOPE" report --json "$run" 2>/dev/null | grep -o '"steps":{"count":[0-9]*' | grep -o '[0-9]*$'; }
gen() { # STEPS OPTION...
    rm -rf "$run"
    "$RINGSCOPE" gen --events ops --no-truth --steps "$@" -o "$run" >/dev/null || { echo "gen failed: $*"; bad=1; }
}

# Every number of steps; of one none is told. Two are told where the operations of a step are of several kinds.
some="1 2 3 4 5 7 12 25"
[ -z "${SEEDS:-}" ] || some="$(seq -s ' ' 12) 17 25 50"
for steps in $some; do
    for shape in "ddp" "ddp --buckets 12" "tpdp" "tpdp --no-world --layers 40" "pipeline" "pipeline --microbatches 1" "alltoall" "graph --buckets 2"; do
        # shellcheck disable=SC2086
        gen $steps -w $shape --seed $steps
        found=$(steps_found)
        case $steps in
        1) is "gen -w $shape, one step" "$found" 0 ;;
        2) [ "$found" = 2 ] || is "gen -w $shape, two steps" "$found" 0 ;;
        *) is "gen -w $shape" "$found" "$steps" ;;
        esac
    done
done

# Other seeds, shapes and disturbances.
for seed in $(seq "${SEEDS:-2}"); do
    for more in "--jitter 30" "--tails 0.2" "--slow 1:1000" "--bias 20" "--drop 0.02" "--bytes 64Ki" "--compute 100" "--api 4" "--api 6"; do
        for shape in "ddp" "tpdp" "pipeline" "alltoall"; do
            # shellcheck disable=SC2086
            gen 21 -w $shape $more -n 4 --seed "$seed"
            is "gen -w $shape $more, seed $seed" "$(steps_found)" 21
        done
    done
done
# Experts: which ranks exchange anything depends on the data. Noise of compute that hides single steps.
for seed in 4 6 18 38; do
    gen 30 -w alltoall -n 4 --seed $seed
    is "gen -w alltoall, seed $seed" "$(steps_found)" 30
done
for noise in tails:0.05:300 slices:0.05:4000 host:300 bursts:0.2:1000:5; do
    for shape in "tpdp -n 2 --hosts 1" "ddp -n 4" "pipeline"; do
        # shellcheck disable=SC2086
        gen 30 -w $shape --noise $noise --seed 51
        is "gen -w $shape --noise $noise" "$(steps_found)" 30
    done
done
gen 20 -w tpdp
is "all commands" "$(count "$run")" "20 pattern"

# Played: equal buckets and a loss with every fifth step; groups of different size; one step.
"$RINGSCOPE" sim -n 2 --steps 1 --events ops -o "$TMP/one" >/dev/null 2>&1
is "sim --steps 1" "$("$RINGSCOPE" report --json "$TMP/one" 2>/dev/null | jq .steps.count)" 0
is "equal buckets" "$(count $data/sim-threads)" "5 pattern"
is "groups of different size" "$(count $data/sim-aggregate)" "12 pattern"
gen 30 --buckets 1
is "one operation a step" "$(count "$run")" "30 pattern"
is "...of which twelve may be buckets as well" "$(count $data/sim-one-thread)" "0 null"

# Real. The first step of DDP has other buckets.
is "nccl_mix --steps 3" "$(count $data/h200-mix)" "3 pattern"
is "ddp.py, 15 steps" "$(count $data/h200-ddp)" "15 pattern"
is "ddp.py --steps 12: recordings" "$(count $data/h200-overlay/rec)" "12 pattern"
is "...Flight Recorder" "$(count $data/h200-overlay/flight)" "12 pattern"
is "...the profiler, three steps of it" "$(count $data/h200-overlay/kineto)" "3 annotations"
is "...all of them" "$(count $data/h200-overlay/rec $data/h200-overlay/kineto $data/h200-overlay/flight)" "12 annotations and pattern"
# Marks have their place in the sequence: ProfilerStep#4 is the step with four before it.
is "numbers of marks" "$(jq -s -c 'map(select(.step != null) | [.step, .found_step]) | unique' "$TMP/ops")" "[[4,4],[5,5],[6,6]]"
is "steps of another job: the profiler, five" "$(count $data/kineto/kineto_rank*)" "5 pattern"
is "...the example profiler, whole job" "$(count $data/example/ddp4)" "8 pattern"
is "...Flight Recorder" "$(count $data/flight/ddp4/*.pkl)" "8 pattern"
for none in example/ring4 example/oneprocess4 inspector; do
    is "no steps: $none" "$(count $data/$none)" "0 null"
done

# How long they took, by their operations however they were found: ProfilerStep says when they were called.
usual() { # FROM TO INPUT...: median of the steps that begin there, in us
    "$RINGSCOPE" report --json --from "$1" --to "$2" "${@:3}" 2>/dev/null | jq '.steps | if .usual_ns then .usual_ns / 1000 | floor else "unknown" end'
}
near() { # WHAT IS SHOULD: to 5 %, which is what the last operation takes
    is "$1: $2 us, not $3" "$(jq -n --argjson a "$2" --argjson b "$3" '($a - $b | fabs) <= 0.05 * $b')" true
}
for job in h200-overlay h200-tp2pp2dp2; do
    job=$data/$job
    # The first and last steps of the profile are in part outside of it.
    read -r from to < <("$RINGSCOPE" ops --json "$job/kineto" 2>/dev/null |
        jq -s -r 'map(select(.found_step != null)) | (map(.found_step) | max) as $n | map(select(.start_ns)) |
            [(map(select(.found_step == 0).start_ns) | min), (map(select(.found_step == $n).start_ns) | min)] |
            map(. - 1000000) | "\(.[0]) \(.[1])"')
    rec=$(usual "$from" "$to" "$job/rec")
    near "$job, the profiler" "$(usual "$from" "$to" "$job/kineto")" "$rec"
    near "$job, merged" "$(usual "$from" "$to" "$job"/{rec,kineto,flight})" "$rec"
    is "$job, merged, whole run" "$("$RINGSCOPE" report --json "$job"/{rec,kineto,flight} 2>/dev/null | jq .steps.usual_ns)" \
        "$("$RINGSCOPE" report --json "$job/rec" 2>/dev/null | jq .steps.usual_ns)"
    is "$job, calls alone" "$("$RINGSCOPE" report --json "$job/flight" 2>/dev/null | jq -c '.steps | [.count > 0, .usual_ns, .spread_ns, .time_ns.p50]')" "[true,null,null,null]"
    is "...said" "$("$RINGSCOPE" report "$job/flight" 2>/dev/null | grep -c '^[0-9]* steps of .* each')" 0
done
is "steps that begin in a window" "$("$RINGSCOPE" report --json --from 6.3685s --to 6.38s $data/h200-ddp 2>/dev/null | jq .steps.count)" 1
is "percentiles" "$("$RINGSCOPE" report --json $data/h200-overlay/kineto 2>/dev/null | jq -c '.steps | [.marked, .usual_ns == .time_ns.p50, .time_ns.p50 <= .time_ns.p90, .time_ns.p90 <= .time_ns.p99]')" '[3,true,true,true]'
is "said of marks" "$("$RINGSCOPE" report $data/h200-overlay/kineto 2>/dev/null | grep -c '^3 steps of .*, as the framework marked them')" 1
exit $bad
