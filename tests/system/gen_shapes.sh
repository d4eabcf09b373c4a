#!/bin/bash
# Noise, pauses, overlap and schedules of generated runs are those that were asked for, measured on the times in truth.json.
set -u
cd "${TMP:?}" || exit 1
bad=0
fail() {
    echo "line ${BASH_LINENO[0]}: $*"
    bad=1
}
quiet="--ranks 8 --spread 0 --jitter 0 --bias 0 --tails 0 --truth-times"

# gaps NAME OPTION...: a quiet run of one all-reduce per step; NAME.gaps has the gaps before each (the compute of a step) by
# rank, in us: an array of ranks, each an array of steps. The first gap is not known.
gaps() {
    local name=$1
    shift
    # shellcheck disable=SC2086
    "$RINGSCOPE" gen $quiet --buckets 1 --steps 200 --compute 10000 "$@" -o "$name" >"$name.out" 2>&1 || fail "$name: $(cat "$name.out")"
    jq -c '[.operations[] | {s: .[11], e: .[12]}] as $o | [range(8) as $r
        | [range(1; $o | length) as $k | ($o[$k].s[$r] - $o[$k - 1].e[$r]) / 1000 | round]]' "$name/truth.json" >"$name.gaps"
}
is() { # NAME FILTER: of the gaps
    [ "$(jq "$2" "$1.gaps")" = true ] || fail "$1: not so: $2: $(jq -c 'add | [min, (add / length), max]' "$1.gaps")"
}
library='def mean: add / length; def sigma: mean as $m | map((. - $m) * (. - $m)) | mean | sqrt;
    def near($x; $part): . > $x * (1 - $part) and . < $x * (1 + $part);'

# ---- noise of compute, 1,592 gaps each ----
gaps none
is none 'add | min >= 9999 and max <= 10001'
gaps spread --spread 0.02
is spread "$library"'add | (mean | near(10000; 0.01)) and (sigma | near(200; 0.1))'
gaps gauss --noise gauss:300
is gauss "$library"'add | (mean | near(10000; 0.01)) and (sigma | near(300; 0.1))'
gaps folded --noise folded:300
is folded "$library"'add | min >= 9999 and (mean | near(10239; 0.005))'
gaps tails --noise tails:0.1:100
is tails 'add | (map(select(. > 10050)) | length > 110 and length < 210 and min >= 10099 and max > 11000) and max <= 20001'
gaps slices --noise slices:0.05:4000
is slices 'add | (map(select(. > 10001)) | length > 50 and length < 110 and min >= 13999 and max <= 14001)'
gaps bursts --noise bursts:0.1:500:5
is bursts 'add | map(select(. > 10001)) | length > 80 and length < 240 and min >= 10499 and max <= 10501'
# Each run of late steps of a rank is whole bursts, but for the first and last steps of the job.
is bursts '[.[] | map(if . > 10001 then "x" else "." end) | add | [match("(?<=\\.)x+(?=\\.)"; "g").length % 5 == 0] | all] | all'
gaps host --noise host:200
is host "$library"'([.[0:4] | transpose[] | max - min] | max <= 1) and ([.[4:8] | transpose[] | max - min] | max <= 1)
    and ([.[0], .[4]] | transpose | map(.[0] - .[1]) | sigma | near(283; 0.2))'
gaps both --noise gauss:100 --noise slices:0.05:4000
is both "$library"'add | map(select(. > 12000)) | length > 50 and (mean | near(14000; 0.02)) and (sigma | near(100; 0.3))'

# ---- ranks that always differ; runs that differ ----
gaps ranks --rank-noise 0.02
is ranks "$library"'([.[] | max - min] | max <= 1) and ([.[] | .[0]] | (sigma | . > 80 and . < 400) and (unique | length) > 4)'
for seed in 1 2 3; do gaps run$seed --run-noise 0.02 --seed $seed; done
[ "$(jq -s '[.[] | add | max - min <= 1] | all' run[123].gaps)" = true ] || fail "a run's pace is not the same for all its ranks"
[ "$(jq -s '[.[] | .[0][0]] | (unique | length == 3) and min > 9000 and max < 11000' run[123].gaps)" = true ] || fail "runs have the same pace"
for wrong in gauss tails:0.1 slices:2:4000 bursts:0.1:500 bursts:0.1:500:0 sometimes:3 gauss:3x; do
    "$RINGSCOPE" gen --noise $wrong -o wrong >wrong.out 2>&1
    [ $? = 2 ] || fail "--noise $wrong is no usage error"
done

# ---- pauses, each with its row in the truth; gaps count from step 1 on ----
row() { # NAME WANTED: kind, step, rank and ns of what happened
    local got
    got=$(jq -c '.one_offs | map([.[0], .[1], .[2], .[4]])' "$1/truth.json")
    [ "$got" = "$2" ] || fail "$1: one-offs are $got, not $2"
}
others='[.[] | .[]] | sort | .[0:-1] | max <= 10001'
gaps pause --pause 3@50:30000
is pause "(.[3][49] | . >= 39999 and . <= 40001) and ($others)"
row pause '[["pause",50,3,30000000]]'
gaps profiler --profiler all@60:132000
is profiler "([.[][59]] | min > 120000 and max < 165000 and (unique | length) > 4) and ([.[] | (.[0:59] + .[60:])[]] | max <= 10001)"
row profiler '[["profiler",60,null,132000000]]'
gaps checkpoint --checkpoint all@80:5000 --checkpoint 2@80:20000
is checkpoint '([.[][79, 159]] | min > 13500 and max < 36500) and (.[2][79] > 33000) and ([.[][78, 80]] | max <= 10001)'
row checkpoint '[["checkpoint",80,null,5000000],["checkpoint",80,2,20000000],["checkpoint",160,null,5000000],["checkpoint",160,2,20000000]]'
gaps warm --warm-up 4:40000
is warm '[.[][0]] | min > 33000 and max < 47000'
is warm '([.[][2]] | min > 18000 and max < 22000) and ([.[] | .[3:][]] | max <= 10001)'
row warm '[["warm-up",0,null,40000000],["warm-up",1,null,30000000],["warm-up",2,null,20000000],["warm-up",3,null,10000000]]'
gaps sporadic --sporadic 6:0.2:700
is sporadic '(.[6] | map(select(. > 10001)) | length > 25 and length < 55 and min >= 10699 and max <= 10701) and (.[0:6] + .[7:] | add | max <= 10001)'
# A program's pause is seen in its calls: the launch is late, too. A slow GPU's is not.
for kind in pause:"--pause 3@50:30000" slow:"--slow 3:30000"; do
    # shellcheck disable=SC2086
    "$RINGSCOPE" gen $quiet --buckets 1 --steps 60 ${kind#*:} -o "late ${kind%%:*}" >late.out 2>&1 || fail "$(cat late.out)"
done
queued() { "$RINGSCOPE" ops --json "$1" | jq -s '.[50].ranks[3] | (.start_ns - .launched_ns) / 1e6 | round'; }
[ "$(queued "late pause") $(queued "late slow")" = "2 32" ] || fail "ms from launch to start: $(queued "late pause") $(queued "late slow"), not 2 32"
jq -c .planted "late slow/truth.json" >planted
[ "$(cat planted)" = '[{"kind":"slow-gpu","rank":3,"step_ns":30000000}]' ] || fail "planted: $(cat planted)"
exit $bad
