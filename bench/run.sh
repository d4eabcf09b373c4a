#!/usr/bin/env bash
# `make bench`: what the recorder and the reader cost on this machine, and one table at the end.
#   run.sh [--quick]     about 14 minutes, 6 of them for a timeline of 100 M bars; quick about 2 minutes
# Exit status 0 also when a mark is missed: this measures. 1: something could not be measured.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=$PWD/build}" "${RINGSCOPE:=$BUILD/ringscope}" "${PLUGIN:=$BUILD/libnccl-profiler-ringscope.so}"
: "${NOP:=$BUILD/libnccl-profiler-ringscope-nop.so}"
export RINGSCOPE PLUGIN
unset RINGSCOPE_DIR RINGSCOPE_EVENTS RINGSCOPE_MEMORY RINGSCOPE_LIMIT RINGSCOPE_KEEP RINGSCOPE_TEST_HOST RINGSCOPE_TEST_CLOCK
unset NCCL_PROFILER_PLUGIN SLURM_JOB_ID
quick=
case ${1:-} in
'') ;;
--quick) quick=1 ;;
*) echo "usage: run.sh [--quick]" >&2; exit 2 ;;
esac
dir=$(mktemp -d "${BENCH_DIR:-$BUILD}/bench.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP
results=$dir/results failed=0 cores=$(nproc)
SECONDS=0
: >"$results"

step() { "$@" || { echo "bench: $(basename "$1") failed" >&2; failed=1; }; }

echo "machine  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1) ($(uname -m)), $cores cores"
echo "kernel   $(uname -sr), clock source $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null)"
echo "memory   $(awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)"
echo "folder   on $(df --output=fstype "$dir" | tail -n 1), load before: $(cut -d' ' -f1-3 /proc/loadavg)"

bench=$BUILD/bench
if [ -n "$quick" ]; then
    seconds=2 counts=1
    step "$bench/callback" -r 3 -d "$dir" -o "$results" "$NOP" "$PLUGIN"
else
    seconds=10 counts=1
    if [ "$cores" -gt 1 ]; then counts="1 $cores"; fi
    step "$bench/callback" -r 15 -d "$dir" -o "$results" "$NOP" "$PLUGIN"
fi
for n in 1 2; do step "$bench/load" -t $n -s $seconds -d "$dir" -o "$results" sustain "$PLUGIN"; done
for n in $counts; do
    step "$bench/load" -t "$n" -d "$dir" -o "$results" burst "$PLUGIN"
    [ -n "$quick" ] || step "$bench/load" -t "$n" -s 2 -r 10e6 -d "$dir" -o "$results" highest "$PLUGIN"
done
# A recording of over 10 M callbacks for the reader; its own figures are not wanted again.
step "$bench/load" -s 2.1 -k -d "$dir" sustain "$PLUGIN" >/dev/null
step "$bench/read" -o "$results" "$RINGSCOPE" "$dir/kept.1" info jsonl
# A whole job of 10 M callbacks for the join: 64 ranks on 8 hosts, as gen makes it.
echo
step "$RINGSCOPE" gen --callbacks 10M --ranks 64 --hosts 8 --no-truth -o "$dir/job" | tee "$dir/gen.log"
sed -n 's/.*(\([0-9.]*\) M callbacks\/s)/gen \1/p' "$dir/gen.log" >>"$results"
step "$bench/read" -o "$results" "$RINGSCOPE" "$dir/job" report ops
# A PyTorch profiler trace of 1 GB, made of a real one.
gunzip -c tests/data/kineto/kineto_rank0.json.gz >"$dir/kineto.json"
if [ -n "$quick" ]; then megabytes=200; else megabytes=1000; fi
step "$bench/kineto" -m "$megabytes" -o "$results" "$dir/kineto.json" "$dir"
# The same, and three times as large: about 10 M events, for what exporters take for themselves.
if [ -n "$quick" ]; then
    step "$bench/export" -r 2 -o "$results" "$RINGSCOPE" "$dir/job" "$dir" perfetto chrome sqlite
else
    step "$RINGSCOPE" gen --callbacks 31M --ranks 64 --hosts 8 --no-truth -o "$dir/large" >/dev/null
    step "$bench/export" -o "$results" "$RINGSCOPE" "$dir/large" "$dir" perfetto chrome sqlite otf2 csv rsc
    rm -rf "$dir/large"
    # As many of two processes: memory is not to grow with a process.
    step "$RINGSCOPE" gen --callbacks 31M --ranks 2 --no-truth -o "$dir/large" >/dev/null
    step "$bench/export" -r 1 -o "$dir/few" "$RINGSCOPE" "$dir/large" "$dir" perfetto sqlite
    sed 's/^export_/few_/' "$dir/few" >>"$results"
    rm -rf "$dir/large"
fi
step bench/sizes.sh ${quick:+--quick} "$dir" "$results"
step bench/view.sh ${quick:+--quick} "$dir" "$results"

# NAME FIELD: a number from the results; nothing if it was not measured
value() { awk -v name="$1" -v field="$(($2 + 1))" '$1 == name { print $field }' "$results"; }
row() { # WHAT MEASURED UNIT MARK(op number, or -) [MORE]
    [ -n "$2" ] || return 0
    awk -v what="$1" -v x="$2" -v unit="$3" -v op="${4%% *}" -v mark="${4#* }" -v more="${5:-}" 'BEGIN {
        met = op == "-" ? "" : (op == "<=" ? x + 0 <= mark + 0 : x + 0 >= mark + 0) ? "yes" : "NO"
        printf "%-50s | %-32s | %-8s | %s\n", what, x (unit == "" ? "" : " " unit) (more == "" ? "" : " (" more ")"),
            op == "-" ? "" : op " " mark, met }'
}
many() { [ "$1" = 1 ] && echo "1 thread" || echo "$1 threads"; }

printf '\n%-50s | %-32s | %-8s | %s\n' what measured mark met
printf '%s\n' "---------------------------------------------------|----------------------------------|----------|----"
row "own cost of a callback, 1 thread" "$(value cost_1 1)" "x tick" "<= 1.5" "median $(value cost_1 2)"
row "own cost of a callback, $(many "$cores")" "$(value cost_all 1)" "x tick" "<= 2" "median $(value cost_all 2)"
lost=$(awk '/^cost_lost_/ { n += $2; any = 1 } END { if (any) print n }' "$results")
row "lost while that was measured" "$lost" callbacks "<= 0"
row "cost when all memory is full" "$(value cost_full 1)" "x tick" "-"
for n in 1 2; do
    row "5 M/s for $seconds s, $(many $n): rate" "$(value "sustain_$n" 1)" "M/s" ">= 5"
    row "5 M/s for $seconds s, $(many $n): lost" "$(value "sustain_$n" 2)" callbacks "<= 0"
    row "5 M/s for $seconds s, $(many $n): background thread" "$(value "sustain_$n" 3)" "% of a core" "-"
    row "5 M/s for $seconds s, $(many $n): own cost" "$(value "sustain_$n" 6)" "x tick" "-"
    row "5 M/s for $seconds s, $(many $n): disk" "$(value "sustain_$n" 4)" "bytes/callback" "<= 6"
    row "5 M/s for $seconds s, $(many $n): memory" "$(value "sustain_$n" 5)" "MiB" "<= 64"
done
for n in $counts; do
    row "burst of RINGSCOPE_MEMORY, $(many "$n"): lost" "$(value "burst_$n" 1)" callbacks "<= 0" "of $(value "burst_$n" 2)"
    row "burst of RINGSCOPE_MEMORY, $(many "$n"): memory" "$(value "burst_$n" 3)" "MiB" "<= 64"
    row "highest rate kept whole for 2 s, $(many "$n")" "$(value "highest_$n" 1)" "M/s" ">= 5"
done
row "disk, worst simulated job with network steps" "$(value sizes 1)" "bytes/callback" "<= 6"
row "lost in the simulated jobs" "$(value sizes 2)" callbacks "<= 0"
row "disk, job of 3 steps (headers and facts weigh)" "$(value sizes_short 1)" "bytes/callback" "-"
row "disk, almost idle job" "$(value idle 1)" "bytes/s a process" "-"
row "ringscope info, of CPU time" "$(value read_info 1)" "M callbacks/s" ">= 5" "$(value read_info 2) MB/s"
row "ringscope export --to jsonl, of CPU time" "$(value read_jsonl 1)" "M callbacks/s" "-" "$(value read_jsonl 4) MB/s printed"
row "ringscope gen, a core" "$(value gen 1)" "M callbacks/s" ">= 5"
row "ringscope report (load, join, analyse), of CPU time" "$(value read_report 1)" "M callbacks/s" ">= 5"
row "peak memory of ringscope report, 10 M callbacks" "$(value read_report 3)" "MiB" "<= 200"
row "ringscope ops, of CPU time" "$(value read_ops 1)" "M callbacks/s" "-" "peak $(value read_ops 3) MiB"
row "Kineto trace into the model, of CPU time" "$(value kineto 1)" "MB/s" ">= 500"
row "peak memory of that, $megabytes MB" "$(value kineto 2)" "MiB" "<= 300"
row "peak memory of ringscope info" "$(value read_info 3)" "MiB" "<= 1024"
row "peak memory of ringscope export --to jsonl" "$(value read_jsonl 3)" "MiB" "<= 1024"
row "export to Perfetto, of CPU time" "$(value export_perfetto 1)" "M events/s" ">= 2"
row "export to Perfetto, writing alone" "$(value export_perfetto 2)" "M events/s" ">= 2"
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (a != "" && b > 0) printf "%.2f", a / b }'; }
row "Chrome JSON against Perfetto: bytes" "$(ratio "$(value export_chrome 3)" "$(value export_perfetto 3)")" "x" ">= 5" \
    "$(value export_chrome 3) and $(value export_perfetto 3) an event"
row "Chrome JSON against Perfetto: time to write" "$(ratio "$(value export_chrome 6)" "$(value export_perfetto 6)")" "x" \
    ">= 5" "$(value export_chrome 6) and $(value export_perfetto 6) s"
row "export to SQLite, of CPU time" "$(value export_sqlite 1)" "M rows/s" ">= 0.5"
row "export to SQLite, writing alone" "$(value export_sqlite 2)" "M rows/s" ">= 0.5"
for format in perfetto chrome sqlite otf2 csv rsc; do
    row "peak memory of export to $format, $([ -n "$quick" ] && echo 3 || echo 10) M events" \
        "$(value "export_$format" 4)" "MiB" "<= 200"
done
for format in perfetto sqlite; do
    row "the same of two processes, to $format" "$(value "few_$format" 4)" "MiB" "<= 200"
done
for size in 3M 10M 100M; do
    row "timeline of $size bars, of CPU time" "$(value "built_$size" 2)" "M bars/s" ">= 2" "$(value "built_$size" 5) s"
    row "timeline of $size bars: on disk" "$(value "built_$size" 3)" "bytes/bar" "-"
    row "timeline of $size bars: peak memory" "$(value "built_$size" 4)" "MiB" "-"
    row "page of $size bars: first paint" "$(value "page_$size" 1)" "ms" "<= 2000"
    row "page of $size bars: worst frame, of CPU time" "$(value "page_$size" 2)" "ms" "<= 33" \
        "95 % in $(value "page_$size" 3) by the clock"
    row "page of $size bars: memory" "$(value "page_$size" 4)" "MB" "<= 1074"
done
echo
echo "took $SECONDS s"
exit $failed
