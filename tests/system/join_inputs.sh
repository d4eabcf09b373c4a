#!/bin/bash
# Inputs that are not as they should be: what is wrong is said, and what can be done is done.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
run=$TMP/run

says() { # WHAT COMMAND...: its messages hold the text
    local text=$1
    shift
    "$@" >"$TMP/out" 2>"$TMP/err"
    grep -q -- "$text" "$TMP/err" "$TMP/out" || { echo "$*: does not say '$text' but: $(head -c 600 "$TMP/err" "$TMP/out")"; bad=1; }
}
gen() { "$RINGSCOPE" gen "$@" >"$TMP/log" || { cat "$TMP/log"; exit 1; }; }

# Ranks that are missing: they are named, and the others' operations are joined without them.
gen -n 8 --hosts 2 --steps 5 -o "$run"
rm "$run"/node01.2000?.rsc
is "missing ranks" "$("$RINGSCOPE" ops --json "$run" | jq -s -c '[.[] | [(.ranks | length), .not_recorded, .missing]] | unique')" '[[7,[4],[]]]'
says "1 of 8 ranks" "$RINGSCOPE" report "$run"
is "missing ranks in hang" "$("$RINGSCOPE" hang --json "$run" | jq -c '[.verdict, .unseen_ranks]')" '["NONE",[4]]'

# The same file twice, and by another name.
cp "$run"/node00.20000.rsc "$TMP/copy.rsc"
says "same recording" "$RINGSCOPE" ops "$run" "$TMP/copy.rsc"
is "read once" "$("$RINGSCOPE" ops --json "$run" "$TMP/copy.rsc" 2>/dev/null | jq -s -c 'map(.ranks | length) | unique')" '[7]'

# Two runs in one folder, at the same time on the same hosts: told apart by their communicators.
mkdir "$TMP/two"
gen -n 4 --hosts 2 --steps 3 --seed 1 -o "$TMP/a"
gen -n 4 --hosts 2 --steps 6 --seed 2 -o "$TMP/b"
for r in "$TMP"/a/*.rsc; do cp "$r" "$TMP/two/a-$(basename "$r")"; done
for r in "$TMP"/b/*.rsc; do cp "$r" "$TMP/two/b-$(basename "$r")"; done
says "2 runs here" "$RINGSCOPE" report "$TMP/two"
is "runs" "$(for i in 0 1; do "$RINGSCOPE" ops --json --run $i "$TMP/two" | jq -s 'length'; done | sort -n | xargs)" '12 24'
is "both runs" "$("$RINGSCOPE" ops --json --run all "$TMP/two" | jq -s -c '[length, (map(.ranks | length) | unique)]')" '[36,[4]]'
says "no run 2" "$RINGSCOPE" report --run 2 "$TMP/two"

# A recording that is cut, one of noise, an empty one, one with a flipped byte: the others are still joined.
mkdir "$TMP/broken"
cp "$TMP"/b/*.rsc "$TMP/broken"
size=$(stat -c %s "$TMP/broken/node00.20000.rsc")
truncate -s $((size / 2)) "$TMP/broken/node00.20000.rsc"
head -c 5000 /dev/urandom >"$TMP/broken/node09.1.rsc"
: >"$TMP/broken/node09.2.rsc"
printf 'x' | dd of="$TMP/broken/node01.20000.rsc" bs=1 seek=3000 conv=notrunc status=none
says "truncated" "$RINGSCOPE" ops "$TMP/broken"
says "node09.1.rsc" "$RINGSCOPE" ops "$TMP/broken"
is "three of four ranks at least" "$("$RINGSCOPE" ops --json "$TMP/broken" 2>/dev/null | jq -s '[.[] | select(.ranks | length >= 2)] | length >= 24')" true
is "nothing missing" "$("$RINGSCOPE" ops --json "$TMP/broken" 2>/dev/null | jq -s '[.[] | select(.missing != [])] | length')" 0
is "no hang" "$("$RINGSCOPE" hang --json "$TMP/broken" 2>/dev/null | jq -r .verdict)" NONE

# Nothing at all.
mkdir "$TMP/empty"
for command in ops report comms clocks hang; do
    "$RINGSCOPE" $command "$TMP/empty" >/dev/null 2>"$TMP/err"
    is "$command of an empty folder" $? 1
    grep -q "no recording" "$TMP/err" || { echo "$command: $(cat "$TMP/err")"; bad=1; }
    "$RINGSCOPE" $command >/dev/null 2>&1
    is "$command of nothing" $? 2
done
exit $bad
