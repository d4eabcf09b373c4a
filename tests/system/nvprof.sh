#!/bin/bash
# nvprof's logs: what a summary of two workers tells of waiting, what it cannot tell, and what traces give.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data/nvprof
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

has() { # WHAT TEXT PATTERN
    if ! grep -q -- "$3" <<<"$2"; then
        echo "$1: no \"$3\" in: $2"
        bad=1
    fi
}
report() { "$RINGSCOPE" report --json "$data/$1" 2>/dev/null; }

# The must of it: 74121 spends 852.55 us in an average all-reduce, 74120 3.0661 ms: it waited 212.5 of its 294.35 ms.
json=$(report nvprof-ddp2.txt)
reduce='.statistics.operations[] | select(.func == "AllReduce")'
is "wait of 74120" "$(jq "$reduce | .processes[] | select(.pid == 74120) | .wait_ns" <<<"$json")" 212505000
is "time of 74120" "$(jq "$reduce | .processes[] | select(.pid == 74120) | .total_ns" <<<"$json")" 294350000
is "average of 74121" "$(jq "$reduce | .processes[] | select(.pid == 74121) | .avg_ns" <<<"$json")" 852552
is "wait of 74121" "$(jq "$reduce | .processes[] | select(.pid == 74121) | .wait_ns" <<<"$json")" 0
conclusion=$(jq -r '.conclusion[]' <<<"$json")
has "conclusion" "$conclusion" '74120 waited about 212.5 ms of its 294.4 ms'
has "conclusion" "$conclusion" '852.55 us in process 74121'
has "conclusion" "$conclusion" 'no time axis'
is "host call that differs most" "$(jq -r '.statistics.host_calls[0].name' <<<"$json")" cudaEventElapsedTime
is "its difference" "$(jq '.statistics.host_calls[0].spread_ns > 4000000000' <<<"$json")" true
is "ranges" "$(jq '.statistics.ranges | length' <<<"$json")" 26
is "GPU time in a range" "$(jq '[.statistics.ranges[] | select(.pid == 74120 and .name == "ncclGroupEnd" and .calls == 96)][0].gpu_ns' <<<"$json")" 294350000
is "domain" "$(jq -r '.statistics.ranges[0].domain' <<<"$json")" NCCL
is "notes" "$(jq '.statistics.notes | length >= 3' <<<"$json")" true
is "operations" "$(jq '.operations.count' <<<"$json")" 0
is "host" "$(jq '.statistics.processes[0].host' <<<"$json")" null
has "text" "$("$RINGSCOPE" report "$data/nvprof-ddp2.txt" 2>/dev/null)" 'summaries of 4 processes, without a time axis'

# Other commands say what such a file cannot tell, and do not fail.
for command in ops hang clocks comms info; do
    said=$("$RINGSCOPE" $command "$data/nvprof-ddp2.txt" 2>&1)
    is "$command: status" $? "$([ "$command" = hang ] && echo 1 || echo 0)" # 1: the question cannot be answered
    has "$command" "$said" 'no time axis'
done
has "hang" "$("$RINGSCOPE" hang "$data/nvprof-ddp2.txt" 2>/dev/null)" 'cannot show whether something hangs'
has "clocks" "$("$RINGSCOPE" clocks "$data/nvprof-ddp2.txt" 2>/dev/null)" 'clocks cannot be compared'

# Both forms of a summary, and of a trace, say the same.
for name in nvprof_summary.txt nvprof_summary.csv; do
    is "$name" "$(report $name | jq -c '.statistics.operations[0] | [.func, .processes[0].calls, .processes[0].total_ns]')" \
        '["AllReduce",40,12302000]'
done
for name in nvprof_gpu_trace.txt nvprof_gpu_trace.csv; do
    is "$name" "$("$RINGSCOPE" ops --no-align --json "$data/$name" 2>/dev/null |
        jq -c '[.func, .ranks[0].start_ns, .ranks[0].end_ns]')" '["AllReduce",500000000,500307550]'
done

# A log that breaks off: said, and what was whole is used.
head -c 30000 "$data/nvprof-ddp2.txt" >"$dir/cut.txt"
is "cut: processes" "$("$RINGSCOPE" report --json "$dir/cut.txt" 2>/dev/null | jq '.statistics.processes | length >= 2')" true
gzip -c "$data/nvprof-ddp2.txt" >"$dir/log.gz"
if "$RINGSCOPE" --version | grep -q 'zlib *on'; then
    is "packed" "$("$RINGSCOPE" report --json "$dir/log.gz" 2>/dev/null | jq "$reduce | .wait_ns")" 212505000
fi
exit $bad
