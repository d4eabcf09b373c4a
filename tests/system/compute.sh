#!/bin/bash
# A GPU that computes longer than its equals: planted in copies of real Kineto traces, and nobody in the originals.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data

# longer IN...: ranks that compute longer than their equals, with the reason.
longer() { "$RINGSCOPE" report --json "$@" 2>/dev/null | jq -c '[.compute.compared, (.compute.longer[] | .rank, .why)]'; }

is "five steps of four ranks" "$(longer "$data"/kineto/kineto_rank*.gz)" '[4]'
is "two stages" "$(longer "$data/h200-tp2pp2dp2/kineto")" '[8]'
is "two stages, merged" "$(longer "$data"/h200-tp2pp2dp2/{kineto,rec})" '[8]'

# plant RANK PROGRAM: a copy of the job in which jq changes the compute kernels of one rank.
plant() {
    rm -rf "$TMP/job"
    mkdir "$TMP/job"
    cp "$data"/kineto/kineto_rank*.gz "$TMP/job"
    gzip -dc "$data/kineto/kineto_rank$1.json.gz" | jq -c ".traceEvents |= map(
        if .cat == \"kernel\" and (.name | test(\"nccl\") | not) then $2 else . end)" >"$TMP/job/kineto_rank$1.json"
    rm "$TMP/job/kineto_rank$1.json.gz"
}

# Kernels of rank 1 take five times as long: about four times their 0.65 ms per step more.
plant 1 '.dur *= 5'
"$RINGSCOPE" report --json "$TMP/job" 2>/dev/null | jq '.compute.longer' >"$TMP/rows"
is "planted" "$(jq -c '[.[] | .rank, .why, .steps, .late_steps, .equals]' "$TMP/rows")" '[1,"slower kernels",5,5,3]'
is "ratio" "$(jq '.[0] | .ratio > 4.2 and .ratio < 5.2 and .ratio_low <= .ratio and .ratio <= .ratio_high' "$TMP/rows")" true
is "by chance" "$(jq '.[0].p_value < 0.005' "$TMP/rows")" true
is "kernels" "$(jq '.[0].kernels | length == 3 and all(.launches == .usual_launches)' "$TMP/rows")" true
is "text" "$("$RINGSCOPE" report "$TMP/job" 2>/dev/null | grep -A 2 '^GPUs that compute longer' | tail -n 1 | cut -c 1-14)" "   1       3  "
is "conclusion" "$("$RINGSCOPE" report "$TMP/job" 2>/dev/null | grep -c '^Rank 1 .* computes .* longer per step than its 3 equals, in 5 of 5 steps: the same kernels take longer, above all sgemm')" 1

# In one step of five: not persistent. And 4 % is what GPUs differ by.
from=$(gzip -dc "$data/kineto/kineto_rank3.json.gz" | jq '[.traceEvents[] | select(.cat == "kernel") | .ts] | min + (max - min) * 0.6')
plant 3 "if .ts > $from and .ts < $from + 60000 then .dur *= 20 else . end"
is "in one step" "$(longer "$TMP/job")" '[4]'
plant 3 '.dur *= 1.04'
is "by 4 %" "$(longer "$TMP/job")" '[4]'
exit $bad
