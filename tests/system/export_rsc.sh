#!/bin/bash
# `export --format rsc`: what was cut out of recordings joins as in the whole, says what it is, and nothing in it is called
# missing, lost or hung because it was cut off. The log (jsonl) with filters is that of the cut with the same.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(cd "$(dirname "$0")/../data" && pwd)
cd "${TMP:?}" || exit 1
ids() { grep -oE '^\{"op":"0x[0-9a-f]{16}"'; }
counts() { "$RINGSCOPE" info --json "$1" | jq -c '[.emitted, .lost]'; }
losses() { "$RINGSCOPE" export --to jsonl "$1" 2>/dev/null | grep '"call":"lost"'; } # when, on which thread, of which events

# Steps are found in what is there, and a part has others than the whole.
without_steps() { sed -E 's/"found_step":(null|[0-9]+),//'; }
# cut NAME IN FILTERS...: every operation that passes is in the cut as in the whole, in all that `ops --json` tells of it,
# to the ns. Clocks are left as they came: the more operations, the better they are known. What else is in it belongs to a
# fan-out of which a part passes.
cut() {
    local name=$1 in=$2
    shift 2
    "$RINGSCOPE" export --format rsc "$in" "$@" -o "$name" 2>err || { echo "$name: $(cat err)"; bad=1; return; }
    "$RINGSCOPE" ops --json --no-align "$in" 2>/dev/null | without_steps | sort >whole.txt
    "$RINGSCOPE" ops --json "$in" "$@" 2>/dev/null | ids >ids.txt
    "$RINGSCOPE" ops --json --no-align "$name" 2>err | without_steps | sort >cut.txt
    grep -F -f ids.txt whole.txt >passed.txt || { echo "$name: nothing to compare"; bad=1; }
    is "$name: operations that differ" "$(comm -23 passed.txt cut.txt | head -n 2)" ""
    is "$name: more than fan-outs" "$(comm -13 passed.txt cut.txt | grep -E '"kind":"(coll|ce)"' | head -n 2)" ""
    is "$name: emitted, lost" "$(counts "$name")" "$(counts "$in")"
    is "$name: losses in their places" "$(losses "$name")" "$(losses "$in")"
}
# The middle third of a run, as --from and --to.
middle() {
    "$RINGSCOPE" ops --json "$1" 2>/dev/null | sed -nE 's/"ranks":.*//; s/.*"start_ns":([0-9]+).*/\1/p' | sort -n |
        awk '{ t[NR] = $1 } END { print "--from " t[int(NR / 3)] " --to " t[int(2 * NR / 3)] }'
}

n=0
for options in "-w ddp" "-w mix --hosts 2 --drop 0.05" "-w pipeline --api 4" "-w alltoall --drop 0.05" \
    "-w mix --api 6 --devices-per-process 2" "-w mix --ring 2:50000 --steps 12" "-w graph --replays-unreported"; do
    n=$((n + 1))
    # shellcheck disable=SC2086 # several words
    "$RINGSCOPE" gen --ranks 4 --steps 3 $options --no-truth -o "g$n" >/dev/null 2>&1 || { echo "gen $options"; bad=1; }
    window=$(middle "g$n")
    [ "$window" = "--from  --to " ] && window="--func AllReduce"
    # shellcheck disable=SC2086
    cut "cut$n" "g$n" $window
done
# shellcheck disable=SC2046
cut h200-mix "$data/h200-mix" $(middle "$data/h200-mix")
cut h200-mix-all "$data/h200-mix"
cut h200-mix-rank "$data/h200-mix" --rank 1
cut h200-ddp "$data/h200-ddp" --func AllReduce
is "nothing is cut off without a filter" "$("$RINGSCOPE" info --json h200-mix-all | jq .cut)" 0

# The log of a cut is that of the whole with the same filters, word by word: every event with its parents and its stop.
"$RINGSCOPE" export --format jsonl "$data/h200-mix" >whole.jsonl
"$RINGSCOPE" export --format jsonl h200-mix-all | cmp - whole.jsonl || bad=1
"$RINGSCOPE" export --format jsonl h200-mix-rank >rank.jsonl
"$RINGSCOPE" export --format jsonl --rank 1 "$data/h200-mix" 2>/dev/null | cmp - rank.jsonl || bad=1
is "callbacks that are not in the whole" "$(sort rank.jsonl | comm -23 - <(sort whole.jsonl) | head -n 2)" ""
of() { grep "\"call\":\"$1\"" "$2" | grep -oE "\"$3\":\"0x[0-9a-f]+\"" | sed -E 's/^"[a-z]+"//' | sort -u; } # CALL FILE KEY
of start rank.jsonl event >started
[ "$(wc -l <started)" -gt 100 ] || { echo "the log of a rank is empty"; bad=1; }
is "starts without their stop" "$(of stop rank.jsonl event | comm -23 started - | comm -12 - <(of stop whole.jsonl event) | wc -l)" 0
is "parents that the whole has and this has not" "$(of start rank.jsonl parent | comm -23 - started | comm -12 - <(of start whole.jsonl event) | wc -l)" 0

# It says what it is, is smaller, and a cut of it is as good.
"$RINGSCOPE" info cut1 >out
grep -q 'cut out of larger recordings: --from' out || { echo "info does not say that it is a cut: $(cat out)"; bad=1; }
is "by which filters" "$("$RINGSCOPE" info --json h200-ddp | jq -r '.inputs[0].cut_by')" "--func AllReduce"
[ "$(cat cut1/*.rsc | wc -c)" -lt "$(cat g1/*.rsc | wc -c)" ] || { echo "a third of it is no smaller"; bad=1; }
cut twice cut1 --rank 1
is "no hang" "$("$RINGSCOPE" hang --json cut1 | jq -r .verdict)" NONE
"$RINGSCOPE" report cut1 >/dev/null 2>err || { echo "report: $(cat err)"; bad=1; }
"$RINGSCOPE" view cut1 -o cut1.html >/dev/null 2>err || { echo "view: $(cat err)"; bad=1; }
# Filters that nobody would read: the text is cut, and not what is said.
many=()
for i in $(seq 60); do many+=(--comm "$(printf 'n%.0s' $(seq 2000))$i"); done
many+=(--comm "$("$RINGSCOPE" comms --json g1 | jq -rs '.[0].comm')")
"$RINGSCOPE" export --format rsc g1 --to 8ms "${many[@]}" -o long 2>/dev/null || { echo "long filters"; bad=1; }
is "a cut by long filters" "$("$RINGSCOPE" info --json long | jq -c '[.cut > 0, (.inputs[0].cut_by | length)]')" "[true,4095]"

# A job that hangs: the cut before it does not, the one with its end does, as the whole.
"$RINGSCOPE" gen --ranks 4 --steps 8 --hang stalled-net:1@6 --no-truth -o hung >/dev/null 2>&1 || bad=1
window=$(middle hung)
# shellcheck disable=SC2086
"$RINGSCOPE" export --format rsc hung $window -o hung-before 2>/dev/null
"$RINGSCOPE" export --format rsc hung --from "${window##* }" -o hung-end 2>/dev/null
is "verdict before it" "$("$RINGSCOPE" hang --json hung-before 2>/dev/null | jq -r .verdict)" UNKNOWN
"$RINGSCOPE" hang hung-before >/dev/null 2>&1
is "exit status before it" $? 1
"$RINGSCOPE" hang hung-before 2>/dev/null | grep -q 'something hung in the rest is unknown' || { echo "a cut is taken for the whole"; bad=1; }
verdict() { "$RINGSCOPE" hang --json "$1" 2>/dev/null | jq -c '[.verdict, .func, .seq, .ranks, .peer, .step, .state]'; }
is "verdict of the end" "$(verdict hung-end)" "$(verdict hung)"

# A cut without filters says of a hang what the whole says, word for word, also a cut of that cut: that a rank did not
# come is told by what is absent behind its last operation, and nothing was cut off there. With --from, all that came
# later is there as well.
for kind in dead not-joined mismatch stream-blocked stalled-net deadlock outside; do
    rm -rf hung again part
    "$RINGSCOPE" gen -w tpdp --ranks 4 --hosts 2 --steps 10 --hang "$kind:1@8" --no-truth -o hung >/dev/null 2>err || { echo "$kind: $(cat err)"; bad=1; }
    "$RINGSCOPE" export --format rsc hung -o "hung-$kind" 2>/dev/null
    "$RINGSCOPE" export --format rsc "hung-$kind" -o again 2>/dev/null
    "$RINGSCOPE" hang --json hung >want 2>/dev/null
    "$RINGSCOPE" hang "hung-$kind" >/dev/null 2>&1
    is "$kind: exit status" $? 3
    "$RINGSCOPE" hang --json "hung-$kind" 2>/dev/null | cmp - want || { echo "$kind: the cut says another thing"; bad=1; }
    "$RINGSCOPE" hang --json again 2>/dev/null | cmp - want || { echo "$kind: the cut of a cut says another thing"; bad=1; }
    from=$("$RINGSCOPE" ops --json hung 2>/dev/null | sed -nE 's/"ranks":.*//; s/.*"start_ns":([0-9]+).*/\1/p' | sort -n | sed -n 24p)
    "$RINGSCOPE" export --format rsc hung --from "$from" -o part 2>/dev/null
    is "$kind: verdict of the end" "$(verdict part)" "$(verdict hung)"
done

# A job that is recorded at this moment: a cut of it is whole in itself, and does not call the job killed when it is over.
# (As many steps as nobody waits for: it is ended below.)
"$RINGSCOPE" sim --plugin "$PLUGIN" --ranks 2 --steps 1000000 -o live >/dev/null 2>&1 &
job=$!
until [ "$("$RINGSCOPE" ops --json live 2>/dev/null | wc -l)" -gt 5 ] || ! kill -0 $job 2>/dev/null; do sleep 0.02; done
"$RINGSCOPE" export --format rsc live -o live-cut 2>err || { echo "a live recording: $(cat err)"; bad=1; }
kill $job
wait $job 2>/dev/null
states() { "$RINGSCOPE" info --json "$1" 2>/dev/null | jq -c '[.process_list[].state]'; }
while [[ $(states live) == *running* ]]; do sleep 0.02; done # children end a little later
is "processes of the job" "$(states live)" '["killed","killed"]'
is "processes of a live job in a cut" "$(states live-cut)" '["running","running"]'
[ "$("$RINGSCOPE" ops --json live-cut 2>/dev/null | wc -l)" -gt 5 ] || { echo "a cut of a live job is empty"; bad=1; }
exit $bad
