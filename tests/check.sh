#!/bin/bash
# All of `make check`, stage by stage. Every stage runs, whatever became of those before it, as far as it can.
# The last lines say what failed, and the sum: N passed, N failed.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/failures.sh
source tests/failures.sh
: "${MAKE:=make}" "${BUILD:=build}"

export CI=true TOTALS
TOTALS=$(mktemp) || exit 1
trap 'rm -f "$TOTALS"; failures_gone' EXIT

# As many at a time as there are processors, and memory: a compiler or a sanitized test may take half a GiB.
export JOBS
JOBS=$({
    nproc
    awk '/^MemAvailable:/ { print int($2 / 524288) }' /proc/meminfo
    # of the container, by either version of cgroups; without a limit the one is a word and the other immense
    cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes |
        awk '/^[0-9]/ { print int($1 / 536870912) }'
} 2>/dev/null | awk '!least || $1 < least { least = $1 < 1 ? 1 : $1 } END { print least }')
jobs=-j$JOBS
case " ${MAKEFLAGS:-} " in *" -j"* | *--jobserver*) jobs= ;; esac

build() {
    # shellcheck disable=SC2086 # lists of words
    $MAKE --no-print-directory $jobs WERROR=1 "$@"
}

# one NAME COMMAND...: a check that passes or fails as a whole; silent unless it fails.
one() {
    local name=$1 log
    shift
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then
        printf '  ok       %s\n' "$name"
        echo "1 0 0" >>"$TOTALS"
    else
        printf '  FAILED   %s\n' "$name"
        tail -n 200 "$log" | sed 's/^/    | /'
        failure "$name" "$log"
        echo "0 1 0" >>"$TOTALS"
    fi
    rm -f "$log"
}

# several NAME COMMAND...: tests that count themselves. If none was counted, it did not get as far: one failure.
several() {
    local name=$1 before log
    shift
    before=$(wc -l <"$TOTALS")
    log=$(mktemp)
    "$@" 2>&1 | grep --line-buffered -v '^  \(CC\|LINK\|AR\|NPM\|PAGE\) ' | tee "$log"
    if [ "${PIPESTATUS[0]}" != 0 ] && [ "$before" = "$(wc -l <"$TOTALS")" ]; then
        printf '  FAILED   %s\n' "$name"
        failure "$name" "$log"
        echo "0 1 0" >>"$TOTALS"
    fi
    rm -f "$log"
}

format_is_right() {
    local wrong
    wrong=$(find src tests bench examples -name '*.[ch]' -exec clang-format --dry-run -Werror {} + 2>&1 |
        sed -n 's/^\([^:]*:[0-9]*\):.*clang-formatted.*/\1/p' | sort -u)
    [ -z "$wrong" ] || printf '%s\n' "$wrong" "make format puts it right"
    [ -z "$wrong" ]
}

scripts_are_right() {
    # -x: follow what a script sources
    find tests bench tools examples completions .ci/run \( -name '*.sh' -o -name '*.bash' -o -name run \) \
        -exec shellcheck -x {} +
}

# Says what begins, and after how long.
stage() { printf '%s  [%d:%02d]\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

stage "build"
one "gcc, warnings are errors" build CC=gcc all bench-built
stage "sources"
one "folders include only what is below them" tests/check-includes.sh
one "clang-format" format_is_right
one "shellcheck" scripts_are_right
stage "unit tests"
several "unit tests" build CC=gcc unit
# Many system tests run alone, or wait. With what they leave, the other compiler has its turn, the stages behind are
# compiled, and the fuzzers run, which take as long as they are told to.
export FUZZ_SECONDS=${FUZZ_SECONDS:-8}
said=$(mktemp) && counted=$(mktemp) || exit 1
trap 'rm -f "$TOTALS" "$said" "$counted"; failures_gone' EXIT
clang_builds() { build asan-built && build fuzz-built; } # in turn: both compile into one folder
meanwhile() {
    TOTALS=$counted # others are counted at the same time
    one "clang, warnings are errors" clang_builds
    build CC=gcc tsan-built >/dev/null 2>&1
    several "fuzz" build fuzz
}
meanwhile >"$said" &
behind=$!
renice -n 5 $behind >/dev/null # behind the tests, yet not starved where others keep the machine busy
stage "system tests"
several "system tests" build CC=gcc system
stage "clang; fuzzers, $FUZZ_SECONDS s each"
wait $behind # what was not compiled fails again, and is said, below; the page is timed: nothing runs beside it
cat "$said"
cat "$counted" >>"$TOTALS"
stage "the page of the timeline"
several "page" build CC=gcc page
stage "AddressSanitizer, UndefinedBehaviorSanitizer"
several "asan" build asan
stage "ThreadSanitizer"
several "tsan" build CC=gcc tsan

echo "took $((SECONDS / 60)) min $((SECONDS % 60)) s"
failures_told
awk '{ passed += $1; failed += $2; skipped += $3 }
     END { printf "%d passed, %d failed", passed, failed
           if (skipped) printf ", %d skipped", skipped
           printf "\n"
           exit failed > 0 }' "$TOTALS"
