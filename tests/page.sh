#!/bin/bash
# The tests of the timeline page (viewer/): types, formatting, unit tests, and the built page in a real browser.
# Prints one line per test; totals are added to the file TOTALS, if that is set (as tests/run.sh does). RINGSCOPE is the built
# program, for pages of real runs. Failures are repeated at the end.
set -u
cd "$(dirname "$0")/../viewer" || exit 1
# shellcheck source=tests/failures.sh
source ../tests/failures.sh
bin=$PWD/node_modules/.bin
log=$(mktemp) || exit 1
trap 'rm -f "$log" "$log".*; remove_failures' EXIT
passed=0 failed=0 skipped=0

shown() { tail -n 200 "$log" | sed 's/^/    | /'; }
one() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$log" 2>&1 </dev/null; then
        printf '  ok       %s\n' "$name"
        passed=$((passed + 1))
    else
        printf '  FAILED   %s\n' "$name"
        shown
        failure "$name" "$log"
        failed=$((failed + 1))
    fi
}
# Runs a command in the background, beside the unit tests; result() prints its output and returns its exit status.
beside() { # FILE COMMAND...
    local file=$1
    shift
    {
        "$@" >"$file.said" 2>&1 </dev/null
        echo $? >"$file.status"
    } &
}
# shellcheck disable=SC2317 # called by one()
result() { # FILE
    cat "$1.said"
    return "$(cat "$1.status")"
}
end() {
    print_failures
    if [ -n "${TOTALS:-}" ]; then
        echo "$passed $failed $skipped" >>"$TOTALS"
    else
        echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
    fi
    [ "$failed" = 0 ]
    exit
}

# Unit tests: one line per file, with the number of its tests.
unit() {
    "$bin/vitest" run --reporter=default --reporter=json --outputFile.json="$log.json" >"$log" 2>&1 </dev/null
    local status=$? name good bad before=$failed
    [ -s "$log.json" ] && while IFS=$'\t' read -r name good bad; do
        printf '  %-8s %-40s %10s\n' "$([ "$bad" = 0 ] && echo ok || echo FAILED)" "page/${name##*/}" "$good passed"
        passed=$((passed + good)) failed=$((failed + bad))
    done < <(jq -r '.testResults[] | [.name, ([.assertionResults[] | select(.status == "passed")] | length),
        ([.assertionResults[] | select(.status == "failed")] | length)] | @tsv' "$log.json")
    if [ $status != 0 ] && [ $before = $failed ]; then # it ended before it counted any
        printf '  FAILED   %s\n' "unit tests of the page"
        failed=$((failed + 1))
    fi
    if [ $before != $failed ]; then
        shown
        failure "page: unit tests" "$log"
    fi
}

# In the browser: after "TOPIC:" lines "ok WHAT" or "FAIL WHAT"; a topic without any was skipped.
browser() {
    npm run --silent browser >"$log" 2>&1 </dev/null
    local status=$? name good bad before=$failed
    if [ $status = 77 ]; then
        printf '  skipped  page/browser: %s\n' "$(tail -n 1 "$log")"
        skipped=$((skipped + 1))
        return
    fi
    while read -r name good bad; do
        if [ $((good + bad)) = 0 ]; then
            printf '  skipped  page/browser/%s\n' "$name"
            skipped=$((skipped + 1))
            continue
        fi
        printf '  %-8s %-40s %10s\n' "$([ "$bad" = 0 ] && echo ok || echo FAILED)" "page/browser/$name" "$good passed"
        passed=$((passed + good)) failed=$((failed + bad))
    done < <(awk 'function tell() { if (name != "") print name, good + 0, bad + 0 }
        /^[a-z0-9-]+:$/ { tell(); name = substr($0, 1, length($0) - 1); good = bad = 0 }
        /^ *ok  / { good++ } /^ *FAIL  / { bad++ } END { tell() }' "$log")
    if [ $status != 0 ] && [ $before = $failed ]; then # it ended before it reported any
        printf '  FAILED   page/browser\n'
        failed=$((failed + 1))
    fi
    if [ $before != $failed ]; then
        # First the failures, then the whole output.
        awk '/^[a-z0-9-]+:$/ { topic = $0 } /^ *FAIL  / { print topic, $0 }' "$log" >"$log.failed"
        sed 's/^/    | /' "$log.failed"
        shown
        if [ -s "$log.failed" ]; then failure "page/browser" "$log.failed"; else failure "page/browser" "$log"; fi
    fi
}

if ! ../tools/page.sh --node; then
    echo "  skipped  page: no Node (18 or later) with npm"
    skipped=1
    end
fi
one "page: Node modules" ../tools/page.sh --modules
[ $failed = 0 ] || end
# Both cache results under node_modules/.cache: files that did not change are not checked again.
beside "$log.types" "$bin/tsc" --noEmit
beside "$log.prettier" "$bin/prettier" --check --cache --cache-strategy content --log-level warn .
unit
wait
one "page: types" result "$log.types"
one "page: prettier" result "$log.prettier"
browser
end
