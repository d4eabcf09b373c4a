#!/bin/bash
# long
# Whom the conclusion of a report names, and whom not: rates over generated runs (tests/drive/conclusions.c), with and without a
# fault, and real jobs of which it is known. `make sweep` counts over 1,000 clean runs: SEEDS=20.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(cd "$(dirname "$0")/../data" && pwd)
seeds=${SEEDS:+$((2 * SEEDS))} # twice as many runs per seed in a sweep
seeds=${seeds:-1}

# ---- rates ----
rates() { "$BUILD/tests/conclusions" "$TMP" "$1" 10001 "$2"; }
share() { sed -n "s/^$1: $2 *\([0-9]*\) of *\([0-9]*\) .*at most \([0-9.]*\) %.*/\1 \2 \3/p" "$TMP/$3"; }
most() { # WHAT WHICH FILE SHARE BOUND: in a few runs one may be wrong, in many the share counts, and the upper end of its interval
    local hits runs upper
    read -r hits runs upper <<<"$(share "$1" "$2" "$3")"
    [ -n "${runs:-}" ] || { echo "$1: $2 were not counted"; bad=1; return; }
    awk -v h="$hits" -v n="$runs" -v u="$upper" -v s="$4" -v b="$5" 'BEGIN { exit !(h <= 1 || (h / n <= s && (n < 200 || u <= b))) }' ||
        { echo "$1: $2 $hits of $runs, at most $upper %"; cat "$TMP/$3"; bad=1; }
}
rates clean $((28 * seeds)) >"$TMP/clean" &
clean=$!
rates late $((4 * seeds)) >"$TMP/late" || bad=1
rates idle $((4 * seeds)) >"$TMP/idle" || bad=1
rates sometimes $((4 * seeds)) >"$TMP/sometimes" || bad=1
wait "$clean" || { echo "clean runs: failed"; bad=1; }
most clean named clean 0.02 2
for workload in ddp tpdp; do
    most "$workload 100 us" missed late 0.05 100
    most "$workload 300 us" missed late 0.01 100
    most "$workload 100 us" others late 0.01 100
    most "$workload 300 us" others late 0.01 100
done
most "pipeline 300 us" named idle 0.01 100
most "sometimes 2 ms" missed sometimes 0.05 100
most "sometimes 2 ms" others sometimes 0.01 100
# Each workload by itself, where there are enough runs to say it.
while read -r workload upper; do
    awk -v u="$upper" 'BEGIN { exit !(u <= 5) }' || { echo "clean $workload: at most $upper %"; bad=1; }
done < <(awk -v s="$seeds" 's >= 40 && /^(ddp|tpdp|pipeline|alltoall|graph|mix|tpppdp) / { print $1, $(NF - 1) }' "$TMP/clean")
cat "$TMP/clean" "$TMP/late" "$TMP/idle" "$TMP/sometimes" >"${SUMMARY:-/dev/null}"

# ---- real jobs ----
report() { "$RINGSCOPE" report --json "$@" 2>/dev/null; }
named='[.findings[] | select(.named) | [.kind, .scope, .rank, .late_steps, .steps]]'
# Rank 2 sleeps 40 ms in each of five steps, which is as few as can show it.
is "rank 2 of four in five steps" "$(report "$data"/kineto/kineto_rank*.json* | jq -c "$named")" '[["persistent","rank",2,5,5]]'
# The GPU of rank 3 is busy 4 ms longer in each step; at the start of a profiler ranks resume up to 132 ms apart.
report "$data/h200-tp2dp2" >"$TMP/tp2dp2"
is "rank 3 of TP 2 x DP 2" "$(jq -c "$named | map(.[:3])" "$TMP/tp2dp2")" '[["persistent","rank",3]]'
is "4 ms within 10 % in each step" "$(jq '.findings[0] | .late_ns > 3.6e6 and .late_ns < 4.4e6 and .late_steps == .steps' "$TMP/tp2dp2")" true
is "its GPU comes first" "$(jq -r '.conclusion[0] | test("^Rank 3 .* its GPU is late: check that GPU")' "$TMP/tp2dp2")" true
is "132 ms at the start, once" "$(jq '[.findings[] | select(.kind == "one_off" and .scope == "rank" and .rank == 2 and (.why | test("13[0-9] ms")))] | length' "$TMP/tp2dp2")" 1
# Nothing was planted; eight processes share a GPU.
is "a clean pipeline" "$(report "$data/h200-tp2pp2dp2/rec" | jq -c "[$named, [.findings[] | select(.scope == \"link\" and .named)]]")" '[[],[]]'
is "how sure" "$(report "$data/h200-tp2pp2dp2/rec" | jq -r '.conclusion[0] | test("^No rank .*stands out")')" true
for each in "$data/h200-ddp" "$data/h200-tp2pp2dp2/kineto" "$data/h200-mix"; do
    is "clean: ${each##*data/}" "$(report "$each" | jq -c "$named")" '[]'
done

# ---- one rank of a host explains nearly all of it ----
"$RINGSCOPE" gen -n 8 --hosts 4 --steps 30 --slow 2:2000 --slow 3:200 --no-truth -o "$TMP/one" >/dev/null || bad=1
is "a rank, not its host" "$(report "$TMP/one" | jq -c '[.findings[] | select(.named or .scope == "host") | [.scope, .named]]')" \
    '[["rank",true],["host",false]]'

# ---- who cannot be compared ----
"$RINGSCOPE" gen -w pipeline -n 8 --steps 20 --slow 5:2000 --no-truth -o "$TMP/pipeline" >/dev/null || bad=1
is "stages without equals" "$(report "$TMP/pipeline" | jq -r '.conclusion[0]')" \
    "No rank does the same work as another in enough steps: whether one is late cannot be told."
is "the pace of a pipeline" "$(report "$TMP/pipeline" | jq -r '.conclusion[1] | test("^Rank 5 .* sets the pace: between operations it takes 4.0 ms per step, the median of the others 2.0 ms.")')" true
"$RINGSCOPE" gen -w pipeline -n 8 --steps 20 --no-truth -o "$TMP/even" >/dev/null || bad=1
is "even stages" "$(report "$TMP/even" | jq '[.conclusion[] | select(test("pace"))] | length')" 0

# ---- a rank that died leads; at most five sentences; the same ones everywhere ----
"$RINGSCOPE" gen --hang dead@12 --steps 30 --slow 2:500 -o "$TMP/dead" >/dev/null || bad=1
is "a dead rank leads" "$(report "$TMP/dead" | jq -r '.conclusion[0] | test("^The process of rank 4 .*ended without closing.*`ringscope hang`")')" true
is "at most five" "$(report "$TMP/dead" | jq '.conclusion | length <= 5')" true
is "text and JSON" "$("$RINGSCOPE" report "$data/h200-tp2dp2" 2>/dev/null | head -n "$(jq ".conclusion | length" "$TMP/tp2dp2")")" "$(jq -r ".conclusion[]" "$TMP/tp2dp2")"
is "a case of whatif for each" "$(jq '[.findings[] | select(.named).name] - [.whatif.cases[].take_out]' "$TMP/tp2dp2" | jq -c .)" '[]'
exit $bad
