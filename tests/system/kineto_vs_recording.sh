#!/bin/bash
# PyTorch profiler traces (Kineto) against recordings of the same jobs: every operation that both saw is joined in the one as in
# the other, and starts at the same time; also where traces are cut to windows that begin at different operations, or to several
# windows. With arguments: JOB..., folders with `rec` and Kineto traces in them or below `kineto`, as they are.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
here=$(cd "$(dirname "$0")" && pwd)
data=$here/../data
dir=$(mktemp -d) || exit 1
trap '[ -n "${KEEP:-}" ] || rm -rf "$dir"' EXIT

# compare NAME RECORDINGS TRACES...: nothing is joined wrongly, nothing that can be is not, no start is off by 100 us
compare() {
    local name=$1 rec=$2
    shift 2
    [ -s "$dir/rec.ops" ] && [ "$rec" = "${of:-}" ] || "$RINGSCOPE" ops --json "$rec" >"$dir/rec.ops" 2>"$dir/err" || bad=1
    of=$rec
    "$RINGSCOPE" ops --json --no-align "$@" >"$dir/kineto.ops" 2>"$dir/err" || bad=1
    jq -n -c --slurpfile rec "$dir/rec.ops" --slurpfile kin "$dir/kineto.ops" -f "$here/kineto_vs_recording.jq" >"$dir/found" ||
        bad=1
    is "$name: joined wrongly, not joined, not in the recording, starts apart" \
        "$(jq -c '[.wrong, .not_joined, .unknown, .apart]' "$dir/found")" '[0,0,0,0]'
    is "$name: notes" "$(grep -v 'clocks' "$dir/err")" ""
    if [ "$(jq '.joined > 0 and .timed > 0 and .kineto == .recording' "$dir/found")" != true ]; then
        echo "$name: $(jq -c 'del(.examples)' "$dir/found")"
        bad=1
    fi
}
found() { jq ".$1" "$dir/found"; }

if [ $# -gt 0 ]; then
    for job; do
        traces=("$job"/kineto*)
        compare "$job" "$job/rec" "${traces[@]}"
        echo "$job: $(jq -c 'del(.examples)' "$dir/found")"
    done
    exit $bad
fi

compare h200-overlay "$data/h200-overlay/rec" "$data/h200-overlay/kineto"
is "h200-overlay: operations" "$(found joined)" 36
job=$data/h200-tp2pp2dp2
compare h200-tp2pp2dp2 "$job/rec" "$job/kineto"
# Six steps: 12 all-reduces of tp, 16 of dp, 12 pairs, a reduce-scatter and an all-gather each
is "h200-tp2pp2dp2: operations" "$(found joined)" 252
is "h200-tp2pp2dp2: kinds" "$(jq -s -c 'map(select(.kind != "fanout")) | group_by([.func, .pg_desc]) | map([.[0].func, .[0].pg_desc, length])' "$dir/kineto.ops")" \
    '[["AllGather","default_pg",6],["AllReduce","dp",96],["AllReduce","tp",72],["ReduceScatter","default_pg",6],["SendRecv","pp",72]]'

# Windows of these traces: cut NAME FIRST LAST RANK, between calls of record_param_comms that are not within a group call.
for r in 0 1 2 3 4 5 6 7; do gunzip -c "$job/kineto/kineto_rank$r.json.gz" >"$dir/$r.json"; done
cut() {
    mkdir -p "$dir/$1"
    jq -c --argjson first "$2" --argjson last "$3" '
        ([.traceEvents[] | select(.name == "record_param_comms") | {ts, what: .args["Collective name"]}] | sort_by(.ts)) as $calls
        | [range($calls | length) | select($calls[.].what != "wait" and (. == 0 or ($calls[. - 1].what | IN("send", "recv") | not)))
           | $calls[.].ts] as $at
        | ($at[$first] - 0.5) as $from | (if $last < ($at | length) then $at[$last] - 0.5 else infinite end) as $to
        | ([.traceEvents[] | select(.cat == "cuda_driver" or .cat == "cuda_runtime") | select(.ts >= $from and .ts < $to)
            | {key: "\(.args.correlation)", value: true}] | from_entries) as $launched
        | .traceEvents |= map(select(if .cat == "kernel" then $launched["\(.args.correlation)"]
            elif .cat == "gpu_user_annotation" then false elif .ph == "X" then .ts >= $from and .ts < $to else true end))' \
        "$dir/$4.json" >"$dir/$1/trace_$4.$2.json"
}
# They begin anywhere in the first two steps, and end anywhere in the last two.
begins=(0 7 13 3 21 10 5 17)
ends=(70 55 66 61 50 72 58 64)
for r in 0 1 2 3 4 5 6 7; do cut differ "${begins[r]}" "${ends[r]}" "$r"; done
compare "windows that differ" "$job/rec" "$dir/differ"
# As many calls each, but not the same ones.
for r in 0 1 2 3 4 5 6 7; do cut equal "${begins[r]}" $((begins[r] + 45)) "$r"; done
compare "windows of equal length" "$job/rec" "$dir/equal"
# No distributedInfo, and names that say nothing.
mkdir "$dir/anonymous"
for r in 0 1 2 3 4 5 6 7; do
    for f in "$dir"/differ/trace_"$r".*; do jq -c 'del(.distributedInfo)' "$f" >"$dir/anonymous/$((99 - r)).json"; done
done
compare "no distributedInfo" "$job/rec" "$dir/anonymous"
exit $bad
