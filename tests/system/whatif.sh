#!/bin/bash
# ringscope whatif: cases and their order, names that are wrong, text and JSON, windows, real recordings.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data
run=$TMP/run
"$RINGSCOPE" gen --no-truth -w tpdp --slow 3:500 --steps 20 -o "$run" >/dev/null
whatif() { "$RINGSCOPE" whatif --json "$@" 2>"$TMP/err"; }

is "default cases" "$(whatif "$run" | jq -c '[.cases[].take_out]')" '["rank 3","persistent","sporadic","waits"]'
is "cases as asked for" "$(whatif --take-out waits --take-out 'host node01' --take-out 'rank 1' --take-out 'ranks 1,3' --take-out 'link 2-6' "$run" |
    jq -c '[.cases[] | [.take_out, .rank, .peer, .host]]')" \
    '[["waits",null,null,null],["host node01",null,null,"node01"],["rank 1",1,null,"node00"],["ranks 1,3",null,null,null],["link 2-6",2,6,"node00"]]'
is "unchanged" "$(whatif "$run" | jq -c '[.refused, .replay_error_pct]')" '[null,0]'
is "a saving is the difference" "$(whatif "$run" | jq '.makespan_ns as $all | [.cases[] | $all - .makespan_ns == .saving_ns] | all')" true
is "it is in its interval" "$(whatif "$run" | jq '[.cases[] | .saving_low_ns <= .saving_ns and .saving_ns <= .saving_high_ns] | all')" true
is "the step" "$(whatif "$run" | jq '.step_ns - .cases[0].step_ns | . > 450000 and . < 520000')" true
# Numbers of jq are exact to 256 ns here.
span=$("$RINGSCOPE" ops --json "$run" | jq -s 'map(.ranks[]) | (map(.end_ns) | max) - (map(.start_ns) | min)')
is "the makespan is that of ops" "$(whatif "$run" | jq --argjson span "$span" '.makespan_ns - $span | . < 600 and . > -600')" true
is "half of the run, half of the saving" "$(whatif --to 190ms --take-out 'rank 3' "$run" | jq '.cases[0].saving_ns | . > 2500000 and . < 7500000')" true
"$RINGSCOPE" whatif "$run" >"$TMP/text"
is "text" "$(grep -c '^\(recorded run: \|taken out \|rank 3 \|persistent \|sporadic \|waits \)' "$TMP/text")" 6

# The trace: recorded times are those of ops, replayed ones end by the saving earlier, and nothing overlaps in a line.
is "trace" "$("$RINGSCOPE" whatif --take-out 'rank 3' -o "$TMP/trace.json" "$run" | grep -c '^rank 3 ')" 1
is "both runs" "$(jq -c '[.traceEvents[] | select(.ph == "X") | .pid] | group_by(.) | map(length) | [.[0] == .[1], .[0]]' "$TMP/trace.json")" \
    "[true,$("$RINGSCOPE" ops --json "$run" | jq -s 'map(.ranks | length) | add')]"
is "ends" "$(jq --argjson c "$(whatif --take-out 'rank 3' "$run" | jq -c '[.makespan_ns, .cases[0].makespan_ns]')" \
    '[.traceEvents[] | select(.ph == "X")] | group_by(.pid) | map(map(.ts + .dur) | max * 1000)
    | [.[0] - $c[0], .[1] - $c[1]] | map(. < 1 and . > -1) | all' "$TMP/trace.json")" true
is "one after another" "$(jq '[.traceEvents[] | select(.ph == "X")] | group_by([.pid, .tid]) | map(sort_by(.ts) | [.[:-1], .[1:]] | transpose
    | map(.[0].ts + .[0].dur <= .[1].ts + 0.001) | all) | all' "$TMP/trace.json")" true
is "no second time" "$("$RINGSCOPE" whatif --take-out 'rank 3' -o "$TMP/trace.json" "$run" 2>&1 >/dev/null | grep -c force)" 1

# The page: both runs, which viewer/test/runs.test.ts compares with the trace; without the page built in, that is said.
if "$RINGSCOPE" whatif --take-out 'rank 3' -o "$TMP/page.html" "$run" >"$TMP/text" 2>"$TMP/err"; then
    is "a page" "$(grep -c 'id="ringscope-data"' "$TMP/page.html")" 1
    is "the table is printed, too" "$(grep -c '^rank 3 ' "$TMP/text")" 1
else
    is "no page" "$(grep -c 'without the page' "$TMP/err")" 1
fi

for wrong in 'rank 99' 'rank x' 'host nowhere' 'link 1-1' 'link 1' 'ranks 1-2'; do
    whatif --take-out "$wrong" "$run" >/dev/null
    is "status of $wrong" $? 1
    is "message of $wrong" "$(grep -c '^ringscope whatif: --take-out: ' "$TMP/err")" 1
done
for wrong in rank everything 'waits 3' ''; do
    whatif --take-out "$wrong" "$run" >/dev/null
    is "status of '$wrong'" $? 2
done

# Real recordings: replayed unchanged they take as long as recorded; no saving is longer than the run.
for folder in h200-ddp h200-mix h200-overlay/rec h200-overlay/kineto h200-tp2pp2dp2/rec; do
    [ -e "$data/$folder" ] || continue
    whatif "$data/$folder" >"$TMP/out"
    is "$folder" "$(jq -c '.makespan_ns as $all | [.refused, .replay_error_pct == 0, ([.cases[] | .saving_ns >= 0 and .saving_ns < $all] | all)]' "$TMP/out")" '[null,true,true]'
done
# Without times nothing can be replayed.
whatif "$data/flight"/* >"$TMP/out"
is "no times" "$(jq '.refused != null' "$TMP/out")" true
exit $bad
