#!/bin/bash
# Clocks of synthetic runs (64 ranks on 8 hosts, GPU timers seconds apart, drifts, wander, biased and heavy-tailed ends)
# against their truth, over 50 seeds: the offset is off by less than the stated error in 99 % of (process, device) pairs,
# and the stated error is at most 20 us. A rank that is late by 2 ms in every step does not move its own clock.
set -u
bad=0
run=$TMP/run
: >"$TMP/rows"

# Rows of [off by, stated error], of the GPU and of the host, in ns. The axis as a whole may lie anywhere: against the
# median of all. Offsets hold at at_ns; the truth's fifth sample is the middle of the run.
# shellcheck disable=SC2016 # the variables are jq's
compare='
    (reduce $truth[0].gpus[] as $g ({}; .["\($g.host) \($g.pid)"] = $g.samples[4])) as $at
    | [.[] | $at["\(.host) \(.pid)"] as [$true, $gpu, $wall]
        | ($gpu + .gpu_offset_ns) as $g | ($wall + .offset_ns) as $h
        | [$g - .gpu_drift_ppm * 1e-6 * ($g - .at_ns) - $true, .gpu_error_ns,
           $h - .drift_ppm * 1e-6 * ($h - .at_ns) - $true, .error_ns]] as $rows
    | ($rows | map(.[0]) | sort | .[length / 2 | floor]) as $axis
    | $rows[] | [(.[0] - $axis | fabs), .[1], (.[2] - $axis | fabs), .[3]] | @tsv'

for seed in $(seq 1 50); do
    rm -rf "$run"
    late=
    [ $((seed % 2)) = 0 ] || late="--slow 5:2000"
    # shellcheck disable=SC2086 # words
    "$RINGSCOPE" gen -n 64 --hosts 8 --steps 20 --seed "$seed" $late -o "$run" >"$TMP/log" || { cat "$TMP/log"; exit 1; }
    "$RINGSCOPE" clocks --json "$run" | jq -s -r --slurpfile truth "$run/truth.json" "$compare" >"$TMP/one" || bad=1
    [ "$(wc -l <"$TMP/one")" = 64 ] || { echo "seed $seed: $(wc -l <"$TMP/one") clocks of 64"; bad=1; }
    cat "$TMP/one" >>"$TMP/rows"
    # The straggler's own clock, and who is said to be late.
    if [ -n "$late" ]; then
        awk -v seed="$seed" 'NR == 6 && $1 > $2 { print "seed " seed ": the clock of the late rank is off by " $1 " ns"; bad = 1 }
            END { exit bad }' "$TMP/one" || bad=1
    fi
done
awk '{ n += 2; wrong += ($1 > $2) + ($3 > $4)
       if ($2 > worst) worst = $2
       if ($4 > worst) worst = $4
       if ($1 > off) off = $1 }
     END { printf "%d of %d offsets off by more than stated; stated error at most %.1f us; GPUs off by at most %.1f us\n", wrong, n, worst / 1000, off / 1000
           exit n != 6400 || wrong > n / 100 || worst > 20000 }' "$TMP/rows" || bad=1

# Times as they came.
rm -rf "$run"
"$RINGSCOPE" gen -n 8 --hosts 2 --steps 3 --no-truth -o "$run" >/dev/null
[ "$("$RINGSCOPE" clocks --json --no-align "$run" | jq -s -c 'map([.offset_ns, .gpu_offset_ns, .method]) | unique')" = '[[null,null,"none"]]' ] ||
    { echo "--no-align: $("$RINGSCOPE" clocks --json --no-align "$run" | head -1)"; bad=1; }
# Raw times of different clocks are not compared with each other.
[ "$("$RINGSCOPE" ops --json --no-align "$run" | jq -s '[.[] | select(.last_rank != null or .transfer_ns != null)] | length')" = 0 ] ||
    { echo "--no-align: waits are told across clocks"; bad=1; }
exit $bad
