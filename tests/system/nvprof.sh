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

# Shares of GPU time are nvprof's own Time(%), in each row and for all of NCCL (AllReduce and Broadcast).
share() { jq -c "$1"' | map(. * 1000 | round / 10)' <<<"$json"; }
is "AllReduce's share of GPU time" "$(share "[$reduce | .processes[].gpu_share]")" '[76.6,45.8]'
is "NCCL's share of GPU time" "$(share '[.statistics.processes[] | select(.nccl_share).nccl_share]')" '[77.7,48.2]'
is "shares of all rows" "$(jq -c '[.statistics | .operations[], .kernels[] | .processes[]] | group_by(.pid)
    | map(map(.gpu_share) | add * 1e6 | round)' <<<"$json")" '[1000000,1000000]'
awk '/API calls:/ { sub(/.*API calls:/, "") } $NF == "cudaStreamIsCapturing" { print $(NF - 1) }' "$data/nvprof-ddp2.txt" | sort -u >"$dir/longest"
is "the longest call" "$(jq -r '[.statistics.host_calls[] | select(.name == "cudaStreamIsCapturing").processes[].max_ns / 1e9 | tostring + "s"] | sort[]' <<<"$json")" \
    "$(cat "$dir/longest")"
has "the longest call" "$conclusion" 'One call of cudaStreamIsCapturing takes 5.29 s in process 74121 and 5.13 s in process 74120'
has "NCCL's share" "$conclusion" 'NCCL kernels take 77.7 % of the GPU time of process 74120, and 48.2 % of that of process 74121'
text=$("$RINGSCOPE" report "$data/nvprof-ddp2.txt" 2>/dev/null)
has "the table of calls" "$text" 'cudaStreamIsCapturing .* 15 *5.1 s *342 ms *5.1 s$'
has "the table of NCCL" "$text" '^AllReduce .* 76.6 % '
# Metrics: the table that the program printed, and those of nvprof.
is "metrics of the program" "$(jq -c '.statistics.metrics | map([.pid, .of, .name, .min, .max, .mean, .unit]) | [length, .[3]]' <<<"$json")" \
    '[4,[null,"metrics for trainer_metrics","hook_future_metric,nccl_dense_allreduce",0.293696,7.28563,2.14836,null]]'
cat >"$dir/metrics.txt" <<'END'
==42== NVPROF is profiling process 42, command: ./a
==42== Profiling application: ./a
==42== Profiling result:
==42== Metric result:
Invocations                               Metric Name                        Metric Description         Min         Max         Avg
Device "Tesla V100-SXM2-16GB (0)"
    Kernel: void gemm<int=4>(float*, int)
         24                             sm_efficiency                   Multiprocessor Activity      98.10%      99.88%      99.02%
         24                      dram_read_throughput             Device Memory Read Throughput  12.300GB/s  15.100GB/s  13.700GB/s
         24                          dram_utilization                 Device Memory Utilization     Low (2)    High (7)     Mid (5)
==42== Event result:
Invocations                                Event Name         Min         Max         Avg       Total
Device "Tesla V100-SXM2-16GB (0)"
    Kernel: copy(int*)
          2                            warps_launched          64         128          96         192
END
cat >"$dir/metrics.csv" <<'END'
==42== NVPROF is profiling process 42, command: ./a
==42== Metric result:
"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
"Tesla V100-SXM2-16GB (0)","void gemm<int=4>(float*, int)",24,"sm_efficiency","Multiprocessor Activity",98.10%,99.88%,99.02%
END
is "metrics of nvprof" "$("$RINGSCOPE" report --json "$dir/metrics.txt" 2>/dev/null | jq -c '.statistics.metrics[] | [.pid, .of, .name, .calls, .min, .max, .mean, .unit]')" \
    '[42,"void gemm<int=4>(float*, int)","sm_efficiency",24,98.1,99.88,99.02,"%"]
[42,"void gemm<int=4>(float*, int)","dram_read_throughput",24,12.3,15.1,13.7,"GB/s"]
[42,"void gemm<int=4>(float*, int)","dram_utilization",24,2,7,5,null]
[42,"copy(int*)","warps_launched",2,64,128,96,null]'
is "metrics in CSV" "$("$RINGSCOPE" report --json "$dir/metrics.csv" 2>/dev/null | jq -c '.statistics.metrics | map([.of, .name, .calls, .max])')" \
    '[["void gemm<int=4>(float*, int)","sm_efficiency",24,99.88]]'
has "metrics in text" "$("$RINGSCOPE" report "$dir/metrics.txt" 2>/dev/null)" 'sm_efficiency  *24  *98.1%  *99.88%  *99.02%  void gemm'

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
