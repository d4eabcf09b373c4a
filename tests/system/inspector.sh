#!/bin/bash
# Inspector's logs, CoMMA's latency file and ncclsee's tables: times where they have them, durations and sums where not.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data

ops() { "$RINGSCOPE" ops --json "$@" 2>/dev/null; }
report() { "$RINGSCOPE" report --json "$@" 2>/dev/null; }
logs=("$data"/inspector/vm-pid*.log.gz)

# Two ranks, numbers 95 to 535 of one and 94 to 534 of the other: 440 in common.
is "joined" "$(ops "${logs[@]}" | jq -s -c '[.[] | [.func, .bytes, .wait_source, (.ranks | length), .missing]] | group_by(.)
    | map([.[0], length])')" '[[["AllReduce",64,null,1,[]],2],[["AllReduce",64,"durations",2,[]],440]]'
is "what the tool dropped is not recorded" "$(ops "${logs[@]}" | jq -s -c '[.[] | select(.not_recorded != []) | .seq] | sort')" '[94,535]'
# Waits without clocks: what a rank took beyond the quickest.
is "waits" "$(ops "${logs[@]}" | jq -s '[.[] | select(.wait_source == "durations") | (.ranks | map(.duration_ns) | min) as $least
    | select(.transfer_ns != $least or (.ranks | any(.wait_ns != .duration_ns - $least)))] | length')" 0
is "no time is made up" "$(ops "${logs[@]}" | jq -s '[.[].ranks[] | select(.start_ns != null or .end_ns != null or
    .enqueued_ns != null)] | length')" 0
# Worked out from the logs themselves: mean wait and transfer of the 440.
zcat "${logs[@]}" 2>/dev/null | sed -n 's/.*"rank":\([0-9]*\),.*"coll_sn":\([0-9]*\),.*"coll_exec_time_us":\([0-9]*\),.*/\1 \2 \3/p' |
    awk '{d[$2, $1] = $3; s[$2] = 1} END {for (k in s) if ((k, 0) in d && (k, 1) in d) {a = d[k, 0]; b = d[k, 1]
        n++; t += a < b ? a : b; w += a < b ? b - a : a - b} printf "%d %d %d\n", n, t * 1000, w * 1000}' >"${TMPDIR:-/tmp}/inspector.$$"
read -r n transfer wait <"${TMPDIR:-/tmp}/inspector.$$"
rm -f "${TMPDIR:-/tmp}/inspector.$$"
is "operations of both" "$n" 440
is "report" "$(report "${logs[@]}" | jq -c '.by_func[0] | [.func, .calls, .clock_free, .wait_sum_ns, .transfer_ns]')" \
    "[\"AllReduce\",442,true,$wait,$((transfer / n))]"
is "a cut line is said" "$("$RINGSCOPE" ops "${logs[@]}" 2>&1 >/dev/null | grep -c '2 files, the first .*byte .*cut off')" 1
is "nothing hangs" "$("$RINGSCOPE" hang --json "${logs[@]}" 2>/dev/null | jq -r .verdict)" UNKNOWN

# Verbose: times of the host, in us.
is "verbose" "$(ops "$data/inspector/inspector_rank0.log" | jq -s -c '[.[] | select(.func == "AllReduce") | .ranks[]
    | [.start_source, .duration_ns, .end_ns - .start_ns >= 309900, .enqueued_ns < .start_ns]] | unique')" \
    '[["callback",300000,true,true]]'

# CoMMA: the network's times and sums; a clock of its own.
is "comma" "$(ops "$data/comma/latency.json" | jq -s -c '[.[] | [.func, .seq, .bytes, .ranks[0].start_source, .ranks[0].duration_ns]]')" \
    '[["AllReduce",57,20971520,"proxy",1457000],["SendRecv",null,4096,null,null]]'
is "comma: network" "$(report "$data/comma/latency.json" | jq -c '[.network[]? | .received_bytes]')" '[1310720]'

# ncclsee: statistics, no operation.
is "ncclsee: operations" "$(ops "$data/ncclsee/4242.csv" | wc -l)" 0
is "ncclsee: exit status" "$("$RINGSCOPE" report --json "$data/ncclsee/4242.csv" >/dev/null 2>&1; echo $?)" 0
exit $bad
