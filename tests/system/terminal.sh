#!/bin/bash
# What people see on a terminal of 80, 120 and 200 columns (a real one, by script(1)): the conclusion first, lines that fit,
# no word broken, no number lost, culprits in colour; and in a pipe all of it in whole lines, without colours.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(cd "$(dirname "$0")/../data" && pwd)
unset COLUMNS NO_COLOR
export TERM=xterm
cd "$TMP" || exit 1
command -v script >/dev/null || { echo "script(1) is missing"; exit 77; }

"$RINGSCOPE" gen -n 16 --hosts 2 --steps 12 --slow 5:2000 --seed 3 -o slow >/dev/null || exit 1
"$RINGSCOPE" gen -n 8 --hosts 2 --hang not-joined:3@4 -o hung >/dev/null || exit 1

on_terminal() { # COLUMNS COMMAND...: what it shows
    printf '%q ' "$RINGSCOPE" "${@:2}" >line.txt
    script -qec "stty cols $1 rows 50; $(cat line.txt) 2>/dev/null" /dev/null </dev/null | tr -d '\r'
}
plain() { sed 's/\x1b\[[0-9;]*m//g'; }
words() { tr -s ' ' '\n' | sed 's/,$//' | grep . | LC_ALL=C sort -u; }

# ---- lines ----

check() { # WHAT COLUMNS: `shown` against `piped`
    is "$1 at $2: lines that are too long" "$(awk -v w="$2" 'length($0) > w' shown | head -n 2)" ""
    # Paths cannot be broken, and names may be cut ("..."): of words, all that were not are in both.
    words <piped >piped.words
    grep -v '\.\.\.' shown | sed 's/^ *in all rows: //' | words >shown.words
    is "$1 at $2: broken words" "$(LC_ALL=C comm -13 piped.words shown.words | grep -vE '\.\.\.|^(in|all|rows:)$' | head -n 3)" ""
    # Numbers: each of the pipe is on the screen.
    words <shown | grep -E '^[<~(]*[0-9]' >shown.numbers
    is "$1 at $2: lost numbers" "$(grep -E '^[<~(]*[0-9][0-9.,:x%-]*$' piped.words | LC_ALL=C comm -23 - shown.numbers | head -n 3)" ""
}
for input in slow hung "$data/h200-mix" "$data/kineto" "$data/flight/hang-real/size" "$data/nvprof/nvprof-ddp2.txt" "$data/inspector"; do
    for command in report hang overlap critical whatif ops comms clocks info; do
        "$RINGSCOPE" $command "$input" >piped 2>/dev/null
        COLUMNS=80 "$RINGSCOPE" $command "$input" >shown 2>/dev/null
        check "$command ${input##*/}" 80
    done
done
for columns in 80 120 200; do
    for command in report hang; do
        input=slow
        [ $command = hang ] && input=hung
        "$RINGSCOPE" $command $input >piped 2>/dev/null
        on_terminal $columns $command $input | plain >shown
        check "terminal: $command" $columns
    done
done

# ---- the conclusion ----

for command in report overlap critical; do
    wanted=$("$RINGSCOPE" $command --json slow 2>/dev/null | jq -rs '.[0].conclusion[0] // empty')
    [ $command = overlap ] && wanted="Overlap is unknown"
    got=$("$RINGSCOPE" $command slow 2>/dev/null | head -n 1)
    is "$command: the conclusion is first" "${got:0:${#wanted}}" "$wanted"
    [ $command = overlap ] && continue
    shown=$(on_terminal 80 $command slow | plain | head -n 12 | tr -s ' \n' ' ')
    is "$command: on the terminal, too" "${shown:0:60}" "${wanted:0:60}"
done
is "hang: verdict, then the conclusion" "$("$RINGSCOPE" hang hung 2>/dev/null | sed -n '1s/:.*//p; 3s/ (.*//p' | paste -sd,)" "NOT_JOINED,Rank 3"
saving=$("$RINGSCOPE" whatif --json --take-out 'rank 5' slow 2>/dev/null | jq '.cases[0].saving_low_ns > 0')
is "whatif: saves" "$saving" true
is "whatif: the conclusion" "$("$RINGSCOPE" whatif --take-out 'rank 5' slow 2>/dev/null | head -n 1 | grep -c '^Without the lateness of rank 5 the run takes .* less (')" 1

# ---- moments: as the tables count them, and as clocks on walls do ----

"$RINGSCOPE" gen -n 8 --hosts 2 --steps 20 --pause 3@12:40000 -o paused >/dev/null || exit 1
began=$("$RINGSCOPE" report --json paused 2>/dev/null | jq '.outlier_steps | map(select(.left_out | not)) | max_by(.duration_ns) | .from_ns')
is "a one-off in UTC" "$("$RINGSCOPE" report paused 2>/dev/null | sed -n 's/.*the longest was step [0-9]* at [0-9.]*s, \(.*\) UTC: .*/\1/p')" \
    "$(date -u -d "@$((began / 1000000000))" '+%F %T').$(printf %06d $((began % 1000000000 / 1000)))"
since=$("$RINGSCOPE" hang --json hung 2>/dev/null | jq .since_ns)
is "a hang in UTC" "$("$RINGSCOPE" hang hung 2>/dev/null | sed -n 's/^ranks in .*, no progress since [0-9.]*s, \(.*\) UTC$/\1/p')" \
    "$(date -u -d "@$((since / 1000000000))" '+%F %T').$(printf %06d $((since % 1000000000 / 1000)))"
is "the recorder's share of a short run" "$("$RINGSCOPE" info slow 2>/dev/null | grep -cE ' (ns|us|ms) of [0-9.]+ (ms|s) ')" 16

# ---- colours ----

red=$(printf '\033[1;31m')
is "culprits in red" "$(on_terminal 80 report slow | head -n 1 | grep -cF "${red}Rank 5")" 1
is "a verdict in red" "$(on_terminal 80 hang hung | head -n 1 | grep -cF "${red}NOT_JOINED")" 1
is "the culprit's row" "$(on_terminal 80 hang hung | grep -cF "$red   3")" 1
is "NO_COLOR" "$(NO_COLOR=1 on_terminal 80 report slow | grep -c "$(printf '\033')")" 0
is "TERM=dumb" "$(TERM=dumb on_terminal 80 report slow | grep -c "$(printf '\033')")" 0
is "in a pipe" "$("$RINGSCOPE" report slow 2>/dev/null | grep -c "$(printf '\033')")" 0
exit $bad
