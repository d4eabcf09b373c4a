#!/bin/bash
# All of `make check`. Every stage runs, whatever became of the others, as far as it can. The last lines say what failed,
# and the sum: N passed, N failed.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/failures.sh
source tests/failures.sh
: "${MAKE:=make}" "${BUILD:=build}"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"; remove_failures' EXIT
export CI=true TOTALS=$work/totals
: >"$TOTALS"

# Jobs: as many as there are processors, and memory for half a GiB each (a compiler, a sanitized test).
export JOBS
JOBS=$({
    nproc
    awk '/^MemAvailable:/ { print int($2 / 524288) }' /proc/meminfo
    # limit of the container, by either version of cgroups; without one it is a word or immense
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

# several NAME COMMAND...: tests that add their own totals. If it fails without any, that is one failure.
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
    wrong=$(find src tests bench examples tools -name '*.[ch]' -exec clang-format --dry-run -Werror {} + 2>&1 |
        sed -n 's/^\([^:]*:[0-9]*\):.*clang-formatted.*/\1/p' | sort -u)
    [ -z "$wrong" ] || printf '%s\n' "$wrong" "fix it with: make format"
    [ -z "$wrong" ]
}

scripts_are_right() {
    # -x: follow what a script sources
    find tests bench tools examples completions .ci/run \( -name '*.sh' -o -name '*.bash' -o -name run -o -path 'tests/docs/bin/*' \) \
        -exec shellcheck -x {} +
}

# Says what begins, and after how long.
stage() { printf '%s  [%d:%02d]\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

# ---- in the background ----
# Many tests wait most of the time. These stages run beside them, at a lower priority.

: >"$work/finished"
# part TITLE COMMAND...: a stage in the background. Its output is shown in one piece.
part() {
    {
        stage "$1"
        "${@:2}"
    } >"$work/part" 2>&1
    cat "$work/part" >>"$work/finished"
}
reached() { : >"$work/$1"; }
sources() {
    one "folders include only what is below them" tests/check-includes.sh
    one "clang-format" format_is_right
    one "shellcheck" scripts_are_right
}
clang_builds() { build asan-built && build fuzz-built; } # in turn: both compile into one folder
background() {
    renice -n 5 $BASHPID >/dev/null
    TOTALS=$work/totals.background
    : >"$TOTALS"
    part "sources" sources
    part "build" one "clang, warnings are errors" clang_builds
    reached clang
    # ThreadSanitizer's build takes objects of the plain one
    until [ -e "$work/gcc" ]; do
        [ -d "$work" ] || exit
        sleep 0.2
    done
    part "ThreadSanitizer" several "tsan" build CC=gcc tsan
    part "fuzzers, $FUZZ_SECONDS s each" several "fuzz" build fuzz
}
printed=0
# front [TITLE]: prints what was finished in the background, and begins the next stage.
front() {
    local size
    size=$(stat -c %s "$work/finished")
    tail -c +$((printed + 1)) "$work/finished" | head -c $((size - printed))
    printed=$size
    [ -z "${1:-}" ] || stage "$1"
}

# ---- all stages ----

export FUZZ_SECONDS=${FUZZ_SECONDS:-5}
background &
behind=$!
front "build"
one "gcc, warnings are errors" build CC=gcc all bench-built
front "unit tests"
several "unit tests" build CC=gcc unit
reached gcc
front "system tests"
several "system tests" build CC=gcc system
front "timeline page"
several "page" build CC=gcc page
until [ -e "$work/clang" ] || ! kill -0 $behind 2>/dev/null; do sleep 0.2; done
front "AddressSanitizer, UndefinedBehaviorSanitizer"
several "asan" build asan
wait $behind
front

echo "took $((SECONDS / 60)) min $((SECONDS % 60)) s"
print_failures
awk '{ passed += $1; failed += $2; skipped += $3 }
     END { printf "%d passed, %d failed", passed, failed
           if (skipped) printf ", %d skipped", skipped
           printf "\n"
           exit failed > 0 }' "$TOTALS" "$work/totals.background"
