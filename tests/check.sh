#!/bin/bash
# All of `make check`, stage by stage. Every stage runs, whatever became of those before it, as far as it can.
# The last line is the sum: N passed, N failed.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${MAKE:=make}" "${BUILD:=build}"

export CI=true TOTALS
TOTALS=$(mktemp) || exit 1
trap 'rm -f "$TOTALS"' EXIT

jobs=-j$(nproc)
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
        echo "0 1 0" >>"$TOTALS"
    fi
    rm -f "$log"
}

# several NAME COMMAND...: tests that count themselves. If none was counted, it did not get as far: one failure.
several() {
    local name=$1 before
    shift
    before=$(wc -l <"$TOTALS")
    "$@" 2>&1 | grep --line-buffered -v '^  \(CC\|LINK\|AR\|NPM\|PAGE\) '
    if [ "${PIPESTATUS[0]}" != 0 ] && [ "$before" = "$(wc -l <"$TOTALS")" ]; then
        printf '  FAILED   %s\n' "$name"
        echo "0 1 0" >>"$TOTALS"
    fi
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

echo "build"
one "gcc, warnings are errors" build CC=gcc all
# Its warnings do not depend on the optimiser; optimised by clang are the fuzzers.
one "clang, warnings are errors" build CC=clang DEBUG=1 BUILD="$BUILD/clang" all
echo "sources"
one "folders include only what is below them" tests/check-includes.sh
one "clang-format" format_is_right
one "shellcheck" scripts_are_right
echo "unit tests"
several "unit tests" build CC=gcc unit
# Many system tests run alone, or wait: what the stages behind them need is compiled meanwhile, with what they leave.
compile_the_rest() {
    build CC=gcc asan-built tsan-built
    build fuzz-built
}
compile_the_rest >/dev/null 2>&1 &
compiling=$!
renice -n 19 $compiling >/dev/null
echo "system tests"
several "system tests" build CC=gcc system
echo "the page of the timeline"
several "page" build CC=gcc page
wait $compiling # what failed there fails again, and is said, below
echo "AddressSanitizer, UndefinedBehaviorSanitizer"
several "asan" build CC=gcc asan
echo "ThreadSanitizer"
several "tsan" build CC=gcc tsan
export FUZZ_SECONDS=${FUZZ_SECONDS:-10}
echo "fuzzers, $FUZZ_SECONDS s each"
several "fuzz" build fuzz

echo "took $((SECONDS / 60)) min $((SECONDS % 60)) s"
awk '{ passed += $1; failed += $2; skipped += $3 }
     END { printf "%d passed, %d failed", passed, failed
           if (skipped) printf ", %d skipped", skipped
           printf "\n"
           exit failed > 0 }' "$TOTALS"
