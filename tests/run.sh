#!/bin/bash
# Runs test programs and scripts, one line each; shows the output of those that fail.
#
#   tests/run.sh TEST...
#
# A test passes with exit status 0 and is skipped with 77. It runs in the root of the sources, without input, with TMP
# set to a fresh folder that goes away afterwards (KEEP=1 keeps it), and with what the Makefile passes on: RINGSCOPE,
# PLUGIN, NOP, STATIC, BUILD, CC, SAN, STAGE. After TEST_SECONDS (600) it hangs: ten times what any needs, since a machine may
# have much else to do. Fuzzers (fuzz_*) run for FUZZ_SECONDS, beginning with their files in tests/data, and hang after
# 300 s with one input (they may run with what others leave of the machine). JOBS tests run at a time (1), those that say
# `# long` in their first lines first, so that none is waited for at the end, and those that say `# alone` one by one,
# behind the others. Totals are added to the file TOTALS, if that is set. What failed is told again at the end.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/failures.sh
source tests/failures.sh

stage=${STAGE:-} # put before the names: asan/, tsan/, fuzz/
# Tests meet the same surroundings everywhere, whatever its user has set.
export LC_ALL=C
umask 022
unset CDPATH BASH_ENV "${!RINGSCOPE_@}" "${!NCCL_@}" "${!SLURM_@}"
# In many containers /dev/shm is so small that the recorder leaves GPU times out (src/plugin/masks.c).
export SMALL_SHM=
[ "$(df --output=avail -m /dev/shm 2>/dev/null | tail -n 1)" -ge 256 ] 2>/dev/null || SMALL_SHM=1
asan=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=0
# Of fuzzers: freed memory is used again sooner, and stacks of allocations are short: that is quicker.
[ "$stage" != fuzz/ ] || asan=$asan:quarantine_size_mb=4:malloc_context_size=4:allocator_release_to_os_interval_ms=-1
export ASAN_OPTIONS=${ASAN_OPTIONS:-$asan}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}

# one TEST: runs it, says how it went, and adds a line ("passed TEST", failed, skipped) to $results.
one() {
    local test=$1 name limit=${TEST_SECONDS:-600} log start status took why data command runs more=
    local TIMEFORMAT='%U %S'
    name=$stage$(basename "$test")
    TMP=$(mktemp -d "${TMPDIR:-/tmp}/ringscope-test.XXXXXX") || exit 1
    export TMP
    command=("$test")
    case $(basename "$test") in
    fuzz_*)
        mkdir "$TMP/corpus" "$TMP/inputs"
        # Entropic schedules count features of the whole corpus with every input: half of the time, with inputs this small.
        command+=("-max_total_time=${FUZZ_SECONDS:-20}" -timeout=300 -len_control=0 -entropic=0 -rss_limit_mb=2048
            -print_final_stats=1 -verbosity=0 "-artifact_prefix=$BUILD/" "$TMP/corpus")
        data=$(basename "$test" | sed "s/^fuzz_//")
        # Long texts only take long: large samples are cut. Databases and recordings have to be whole.
        case $data in nsys | recording | codec) ;; *) command+=(-max_len=8192) ;; esac
        if [ -e "tests/data/fuzz/$data.tar.gz" ]; then # inputs that were found
            tar -xzf "tests/data/fuzz/$data.tar.gz" -C "$TMP/inputs"
            command+=("$TMP/inputs")
        elif [ -d "tests/data/$data" ]; then # samples of its format
            command+=("tests/data/$data")
        else
            command+=(tests/data)
        fi
        ;;
    esac
    log=$TMP.log
    start=${EPOCHREALTIME/./}
    { time timeout -k 10 "$limit" "${command[@]}" </dev/null >"$log" 2>&1; } 2>"$TMP.cpu"
    status=$?
    took=$(((${EPOCHREALTIME/./} - start) / 10000)) # in 1/100 s
    took=$(printf '%d.%02d s' $((took / 100)) $((took % 100)))
    case $status in
    0)
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        [ -z "$runs" ] || more=$(awk -v runs="$runs" '{ printf "%8d runs, %d/s of CPU time", runs, runs / ($1 + $2) }' "$TMP.cpu")
        printf '  ok       %-40s %10s%s\n' "$name" "$took" "$more"
        echo "passed $test" >>"$results"
        ;;
    77)
        printf '  skipped  %-40s %s\n' "$name" "$(tail -n 1 "$log")"
        echo "skipped $test" >>"$results"
        ;;
    *)
        why="exit status $status"
        [ $status != 124 ] && [ $status != 137 ] || why="still running after $limit s"
        printf '  FAILED   %-40s %10s  %s\n%s\n' "$name" "$took" "$why" "$(tail -n 200 "$log" | sed 's/^/    | /')"
        failure "$name: $why" "$log"
        echo "failed $test" >>"$results"
        ;;
    esac
    if [ "${KEEP:-}" = 1 ]; then echo "           kept: $TMP $log"; else rm -rf "$TMP" "$TMP.cpu" "$log"; fi
}

results=$(mktemp) || exit 1
trap 'rm -f "$results"; failures_gone' EXIT
says() { # TEST WORD
    case $1 in *.sh) head -n 10 "$1" | grep -q "^# $2" ;; *) false ;; esac
}
alone() { says "$1" alone; }
for turn in long others; do
    for test in "$@"; do
        if alone "$test"; then continue; fi
        if says "$test" long; then [ $turn = long ] || continue; else [ $turn = others ] || continue; fi
        while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do wait -n; done
        one "$test" &
    done
done
wait
for test in "$@"; do
    if alone "$test"; then one "$test"; fi
done

for test in "$@"; do
    cut -d ' ' -f 2- "$results" | grep -qxF -- "$test" && continue
    echo "failed $test" >>"$results"
    failure "$stage$(basename "$test"): it could not even begin" /dev/null
done
passed=$(grep -c ^passed "$results") failed=$(grep -c ^failed "$results") skipped=$(grep -c ^skipped "$results")
failures_told
if [ -n "${TOTALS:-}" ]; then
    echo "$passed $failed $skipped" >>"$TOTALS"
else
    echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
fi
[ "$failed" = 0 ]
