#!/bin/bash
# Runs test programs and scripts, one line each; shows the output of those that fail.
#
#   tests/run.sh TEST...
#
# A test passes with exit status 0 and is skipped with 77. It runs in the root of the sources, without input, with TMP
# set to a fresh folder that is removed afterwards (KEEP=1 keeps it), and with what the Makefile passes on: RINGSCOPE,
# PLUGIN, NOP, STATIC, BUILD, CC, SAN, STAGE. After TEST_SECONDS (1200) it hangs: far more than any test needs, because the
# machine may have much else to do. Fuzzers (fuzz_*) run for FUZZ_SECONDS, beginning with their files in tests/data, and
# hang after 300 s with one input.
#
# JOBS tests run at a time (1), of those that say `# one at a time` in their first lines one. Those that say `# long` start
# before the others, so that none is waited for at the end. Totals are added to the file TOTALS, if that is set. Failures are
# repeated at the end.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/failures.sh
source tests/failures.sh

stage=${STAGE:-} # put before the names: asan/, tsan/, fuzz/
# Tests meet the same surroundings everywhere, whatever its user has set.
export LC_ALL=C
umask 022
unset CDPATH BASH_ENV "${!RINGSCOPE_@}" "${!NCCL_@}" "${!SLURM_@}"
# Recorders clear up what killed processes of the same user left in /dev/shm, and tests look at what those left: each test
# has a /dev/shm of its own, where that is allowed.
# shellcheck disable=SC2016 # for the other shell
own_shm=(unshare -m --propagation private sh -c 'mount -t tmpfs none /dev/shm && exec "$@"' -)
"${own_shm[@]}" true 2>/dev/null || own_shm=()
# In many containers /dev/shm is so small that the recorder leaves GPU times out (src/plugin/masks.c).
export SMALL_SHM=
[ "$("${own_shm[@]}" df --output=avail -m /dev/shm 2>/dev/null | tail -n 1)" -ge 256 ] 2>/dev/null || SMALL_SHM=1
asan=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=0
# Of fuzzers: freed memory is used again sooner, and stacks of allocations are short: that is quicker.
[ "$stage" != fuzz/ ] || asan=$asan:quarantine_size_mb=4:malloc_context_size=4:allocator_release_to_os_interval_ms=-1
export ASAN_OPTIONS=${ASAN_OPTIONS:-$asan}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}

# one TEST: runs it, says how it went, and adds a line ("passed TEST", failed, skipped) to $results.
one() {
    local test=$1 name limit=${TEST_SECONDS:-1200} log start status took cpu why data command runs more=
    local TIMEFORMAT='%U %S'
    name=$stage$(basename "$test")
    TMP=$(mktemp -d "${TMPDIR:-/tmp}/ringscope-test.XXXXXX") || exit 1
    export TMP
    command=("${own_shm[@]}" "$test")
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
    cpu=$(awk '{ printf "%.2f", $1 + $2 }' "$TMP.cpu")
    case $status in
    0)
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        [ -z "$runs" ] || more=$(awk -v runs="$runs" -v cpu="$cpu" 'BEGIN { printf "%10d runs, %d per s of CPU time", runs, runs / (cpu + 0.01) }')
        printf '  ok       %-40s %10s %8s s CPU%s\n' "$name" "$took" "$cpu" "$more"
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
trap 'rm -f "$results"; remove_failures' EXIT
declare -A head
for test; do
    case $test in *.sh) head[$test]=$(head -n 10 "$test") ;; esac
done
says() { [[ ${head[$1]:-} == *$'\n# '"$2"[$':\n']* ]]; } # TEST WORDS
tests=()
for test; do if says "$test" long; then tests+=("$test"); fi; done
for test; do if ! says "$test" long; then tests+=("$test"); fi; done
# One job runs the tests that exclude each other, beside the others if they do not share /dev/shm.
one_at_a_time() {
    for test in "${tests[@]}"; do
        if says "$test" "one at a time"; then one "$test"; fi
    done
}
[ ${#own_shm[@]} = 0 ] || one_at_a_time &
for test in "${tests[@]}"; do
    if says "$test" "one at a time"; then continue; fi
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do wait -n; done
    one "$test" &
done
wait
[ ${#own_shm[@]} != 0 ] || one_at_a_time

for test in "$@"; do
    cut -d ' ' -f 2- "$results" | grep -qxF -- "$test" && continue
    echo "failed $test" >>"$results"
    failure "$stage$(basename "$test"): it was not run" /dev/null
done
passed=$(grep -c ^passed "$results") failed=$(grep -c ^failed "$results") skipped=$(grep -c ^skipped "$results")
print_failures
if [ -n "${TOTALS:-}" ]; then
    echo "$passed $failed $skipped" >>"$TOTALS"
else
    echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
fi
[ "$failed" = 0 ]
