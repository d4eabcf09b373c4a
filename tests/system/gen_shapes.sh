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
# shellcheck disable=SC2016 # jq's variables
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
gaps factor --slow-factor 5:1.2
is factor '(.[5] | min >= 11999 and max <= 12001) and (.[0:5] + .[6:] | add | max <= 10001)'
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

# ---- overlap: reductions begin when their gradients are there, beside the compute that follows ----
# run NAME OPTION...: a quiet run; its operations are all found in the recordings, with their true starts and ends.
run() {
    local name=$1
    shift
    # shellcheck disable=SC2086
    "$RINGSCOPE" gen $quiet --steps 6 "$@" -o "$name" >"$name.out" 2>&1 || fail "$name: $(cat "$name.out")"
    "$RINGSCOPE" ops --json "$name" >"$name.ops" || fail "$name: ops"
    # The axis of a reader is true time, but for a constant: compare everything with the first start.
    jq -n -c --slurpfile t "$name/truth.json" --slurpfile o "$name.ops" '($t[0] | .communicators as $c
        | [.operations[] | {key: ($c[.[1]].comm + (if .[2] == "Send" then "\(.[7])-\(.[8]) \(.[9])" else "\(.[2]) \(.[3])" end)), s: .[11], e: .[12]}]) as $true
        | [$o[] | select(.kind != "fanout") | (if .src != null then [.src, .dst] else null end) as $ends
            | {key: (.comm + (if $ends then "\(.src)-\(.dst) \(.index)" else "\(.func) \(.seq)" end)),
                ranks: (if $ends then [.ranks as $r | $ends[] as $e | $r[] | select(.rank == $e)] else .ranks end)}
            | {key, s: (.ranks | map(.start_ns)), e: (.ranks | map(.end_ns))}] as $read
        | ($true | map(.s[]) | min) as $t0 | ($read | map(.s[]) | min) as $r0
        | (reduce $true[] as $x ({}; .[$x.key] = $x)) as $by
        | [($true | length), ($read | length), ([$read[] | $by[.key] as $x | if $x then
            ([.s, $x.s] | transpose[] | (.[0] - $r0) - (.[1] - $t0)), ([.e, $x.e] | transpose[] | (.[0] - $r0) - (.[1] - $t0)) else 1e12 end | fabs] | max / 1000)]' >"$name.match"
    [ "$(jq '.[0] == .[1] and .[2] < 100' "$name.match")" = true ] || fail "$name: operations, found, largest difference in us: $(cat "$name.match")"
}
run plain --compute 10000
run overlap --overlap --compute 10000
# Per step: starts of the four buckets on rank 2 after the end of the step before, in us.
# shellcheck disable=SC2016
starts='[.operations[] | {step: .[6], s: .[11][2], e: .[12][2]}] | group_by(.step) | [range(1; length) as $k | .[$k] | map(.s) as $s
    | ($s[] - $before[$k - 1]) / 1000 | round] | unique'
overlapping() { jq -c '[.operations[] | .[12][2] as $e | {step: .[6], e: $e}] | group_by(.step) | map(map(.e) | max)' "$1/truth.json"; }
got=$(jq -c --argjson before "$(overlapping overlap)" "$starts" overlap/truth.json)
[ "$(jq -c 'map(. / 10 | round * 10)' <<<"$got")" = '[5500,7000,8500,10000]' ] || fail "buckets begin at $got us"
# A step is shorter by the three reductions that are hidden.
[ "$(jq -n --slurpfile a plain/truth.json --slurpfile b overlap/truth.json '($a[0].length_ns - $b[0].length_ns) / 6
    | . > 500000 and . < 900000')" = true ] || fail "overlap saves $(jq .length_ns plain/truth.json overlap/truth.json)"
# Reductions that take longer than the compute: each begins when the one before is done.
run busy --overlap --compute 500 --bytes 32Mi
[ "$(jq '[.operations[] | [.[11][2], .[12][2]]] as $o | [range(1; $o | length) | select(. % 4 != 0) | $o[.][0] - $o[. - 1][1]] | max < 10000' busy/truth.json)" = true ] ||
    fail "a reduction begins late"
# Tensor parallelism: reductions of the gradients run beside all-reduces of the next layer, on another stream.
run tpdp_overlap -w tpdp --overlap --bytes 128Mi --compute 500
[ "$(jq '[.operations[] | select(.[6] == 3)] | [.[] | select(.[2] == "ReduceScatter")] as $r | [.[] | select(.[2] == "AllReduce" and .[5] > 4096)] as $a
    | [$r[] as $x | $a[] | select(.[11][0] > $x[11][0] and .[11][0] < $x[12][0])] | length > 3' tpdp_overlap/truth.json)" = true ] || fail "nothing overlaps in tpdp"

# ---- pipelines: 4 stages of 2 replicas, 8 micro-batches; without noise the length of a step is known ----
# A part of compute is 500 us; a transfer (2 KiB) about 30 us within a host and 34 us between hosts.
pipe="-w pipeline --stages 4 --microbatches 8 --compute 8000 --bytes 16Ki"
# span NAME: from the first to the last start or end of pairs in step 5, in parts of 500 us, rounded.
span() {
    jq '[.operations[] | select(.[6] == 5 and .[2] == "Send")] | ([.[][12][]] | max) - ([.[][11][]] | min) | . / 500000 | round' "$1/truth.json"
}
# shellcheck disable=SC2086
{
    run gpipe $pipe
    run 1f1b $pipe --schedule 1f1b
    run interleaved $pipe --schedule interleaved
    run eager $pipe --schedule interleaved --eager 2Ki
}
# m micro-batches through p stages, both ways: 2 (m + p - 1) parts less the first one, before the first send, and the last;
# transfers take part of a part. With two chunks the bubble is half.
for name in gpipe 1f1b interleaved; do
    case $name in interleaved) least=18 most=20 ;; *) least=20 most=23 ;; esac
    got=$(span $name)
    if [ "$got" -lt $least ] || [ "$got" -gt $most ]; then fail "$name: $got parts, not $least to $most"; fi
done
# Sends of each rank and step: 8 forward and 8 back over 3 boundaries in 2 lanes; two chunks: 4 and 3 more boundaries.
[ "$(jq '[.operations[] | select(.[2] == "Send")] | length' gpipe/truth.json 1f1b/truth.json interleaved/truth.json | tr '\n' ' ')" = "576 576 1344 " ] ||
    fail "sends"
# Micro-batches in flight: the first stage sends this many before it receives one back.
ahead() { jq '[.operations[] | select(.[6] == 5 and .[2] == "Send")] as $o | ([$o[] | select(.[8] == 0) | .[11][1]] | min) as $back
    | [$o[] | select(.[7] == 0 and .[8] == 2 and .[12][0] <= $back)] | length' "$1/truth.json"; }
[ "$(ahead gpipe) $(ahead 1f1b)" = "8 3" ] || fail "micro-batches ahead: $(ahead gpipe) $(ahead 1f1b), not 8 3"
# Sends beside compute: on the first rank, sends last until their receivers come, and it does not wait for them. Eager
# ones do not last.
beside='[.operations[] | select(.[2] == "Send") | [.[11][0], .[12][0], .[11][1]]] | map(select(.[1] < .[2])) | length'
[ "$(jq "$beside == 0" interleaved/truth.json) $(jq "$beside > 100" eager/truth.json)" = "true true" ] || fail "eager sends"
[ "$(jq .length_ns interleaved/truth.json)" = "$(jq .length_ns eager/truth.json)" ] || fail "eager sends beside compute change the length"

# Tensor x pipeline x data parallel: every rank is in a group of each kind, neighbours share tensors.
run deep -w tpppdp -n 16 --stages 4 --schedule 1f1b
[ "$(jq -c '.communicators | group_by(.name) | map([.[0].name, length, .[0].nranks])' deep/truth.json)" = \
    '[["default_pg:0",1,16],["dp_group:2",8,2],["pp_group:3",4,4],["tp_group:1",8,2]]' ] || fail "groups: $(jq -c '.communicators | map([.name, .nranks])' deep/truth.json)"
[ "$(jq -c '[.communicators[] | select(.name == "pp_group:3") | .members | map(.[4])] | .[0]' deep/truth.json)" = '[0,4,8,12]' ] || fail "stages"
# Equals: a rank that is slow in one replica delays the other one no more than the reductions do.
for us in 3000 5000; do
    # shellcheck disable=SC2086
    "$RINGSCOPE" gen $quiet --steps 10 -w tpppdp -n 16 --stages 4 --schedule 1f1b --slow 5:$us -o deep.$us >/dev/null || fail "gen"
done
[ $(($(jq .length_ns deep.5000/truth.json) - $(jq .length_ns deep.3000/truth.json))) = 20000000 ] || fail "10 steps of 2 ms"
for wrong in "-w pipeline --stages 3" "-w pipeline --schedule interleaved --stages 1" "-w pipeline --schedule interleaved --microbatches 6 --stages 4" \
    "-w tpppdp --tensor 3" "--stages 2" "-w pipeline --overlap"; do
    # shellcheck disable=SC2086
    "$RINGSCOPE" gen $wrong -o wrong >wrong.out 2>&1
    [ $? = 2 ] || fail "$wrong is no usage error"
done

# ---- receivers that post late: credit time of the sender, not network time ----
"$RINGSCOPE" gen --steps 20 -o credit0 >/dev/null || fail "gen"
"$RINGSCOPE" gen --steps 20 --late-credit 4:100 -o credit1 >/dev/null || fail "gen"
"$RINGSCOPE" gen -w pipeline -n 4 --steps 20 --late-credit 2:100 -o credit2 >/dev/null || fail "gen"
# 80 operations of 100 us in 2 channels; 1/8 is the time that the data come in.
net() { "$RINGSCOPE" report --json "$1" | jq -c "[.network[] | select(.rank == $2 and .peer == $3) | .credit_ns, .net_ns | . / 1e6 | round]"; }
[ "$(net credit0 3 4) $(net credit1 3 4) $(net credit1 7 0)" = "[0,23] [14,23] [0,23]" ] ||
    fail "credit and net ms: $(net credit0 3 4) $(net credit1 3 4) $(net credit1 7 0)"
[ $(($(jq .length_ns credit1/truth.json) - $(jq .length_ns credit0/truth.json))) = 8000000 ] || fail "80 operations of 100 us are no 8 ms"
jq -e '.planted == [{"kind": "late-credit", "rank": 4, "operation_ns": 100000}]' credit1/truth.json >/dev/null || fail "planted"
exit $bad
