#!/bin/bash
# Recordings, traces and dumps of one job, read together, are not worse than the recording alone.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
here=$(dirname "$0") data=$(dirname "$0")/../data

numbers='[.operations, .ranks, .world_size, .hosts, .clock_error_ns, .cost_ns, (.steps | [.count, .operations]),
    (.stragglers | map([.rank, .times_last, .cost_ns, .inherited_ns, .why]))]'

# NAME RECORDING INPUT...
merged() {
    local name=$1 rec=$2
    "$RINGSCOPE" ops --json "$rec" > "$TMP/alone" 2> /dev/null
    "$RINGSCOPE" ops --json "${@:2}" > "$TMP/merged" 2> /dev/null
    is "$name: operations of the recording" "$(jq -s 'length > 100' "$TMP/alone")" true
    jq -n -r --slurpfile alone "$TMP/alone" --slurpfile merged "$TMP/merged" -f "$here/merged.jq" > "$TMP/worse"
    is "$name: worse than alone" "$(wc -l < "$TMP/worse") $(head -3 "$TMP/worse")" "0 "
    "$RINGSCOPE" report --json "$rec" > "$TMP/report" 2> /dev/null
    "$RINGSCOPE" report --json "${@:2}" > "$TMP/report.all" 2> /dev/null
    is "$name: not fewer compared" "$(jq -n --slurpfile a "$TMP/report" --slurpfile b "$TMP/report.all" \
        '$a[0].operations.compared <= $b[0].operations.compared and $a[0].ranks == $b[0].ranks')" true
    # Numbers are those of the recording, where another tool did not see more of the job.
    if cmp -s <(jq .op "$TMP/alone" | sort) <(jq .op "$TMP/merged" | sort); then
        is "$name: numbers" "$(jq -c "$numbers" "$TMP/report.all")" "$(jq -c "$numbers" "$TMP/report")"
    fi
    "$RINGSCOPE" clocks --json "$rec" 2> /dev/null | jq -c 'del(.island)' | sort > "$TMP/clocks"
    "$RINGSCOPE" clocks --json "${@:2}" 2> /dev/null > "$TMP/clocks.all"
    is "$name: clocks of the recording" "$(jq -c 'del(.island)' "$TMP/clocks.all" | sort | comm -23 "$TMP/clocks" - | wc -l)" 0
    # All ran on one host: its clock is everybody's.
    is "$name: offsets within the error" "$(jq -s 'map(select(.method == "overlay"))
        | length > 0 and all(.offset_ns == 0 and .drift_ppm == 0 and .error_ns <= 2000
            and (.gpu_offset_ns == null or (.gpu_offset_ns | fabs) <= .gpu_error_ns))' "$TMP/clocks.all")" true
}

merged "h200-overlay" "$data/h200-overlay/rec" "$data/h200-overlay/kineto" "$data/h200-overlay/flight"
job=$data/h200-tp2pp2dp2
merged "h200-tp2pp2dp2, Kineto" "$job/rec" "$job/kineto"
[ -z "${SAN:-}" ] || exit $bad # the others run the same code
merged "h200-overlay, Kineto" "$data/h200-overlay/rec" "$data/h200-overlay/kineto"
merged "h200-tp2pp2dp2" "$job/rec" "$job/kineto" "$job/flight"
exit $bad
