#!/bin/bash
# What `view` shows of a hang, against the truth of the generator: the verdict, the rank that is to blame in its own row,
# and the others waiting, not transferring. A run that ends well, or still runs, shows none of this.
set -u
export LC_ALL=C.UTF-8
data=$(dirname "$0")/../data
bad=0
work=$TMP

fail() {
    echo "$*"
    bad=1
}
gen() { "$RINGSCOPE" gen -f --ranks 8 --steps 20 "$@" -o "$work/run" >/dev/null || fail "gen $*"; }
text() { "$RINGSCOPE" view "$@" --text --width 110 >"$work/text" 2>"$work/err" || fail "view $*: $(cat "$work/err")"; }

# Kind, what its row says, and whether the others wait: in a transfer that all entered they do not.
while read -r kind waits words; do
    for rank in 3 7; do
        gen --hang "$kind:$rank@10" --seed $rank
        text "$work/run"
        verdict=$(jq -r .hang.verdict "$work/run/truth.json")
        [ "$("$RINGSCOPE" hang "$work/run" | head -n 1)" = "$(sed -n 2p "$work/text")" ] ||
            fail "$kind: the verdict is not that of hang: $(sed -n 2p "$work/text")"
        grep -q "^$verdict: .*rank $rank\b" "$work/text" || fail "$kind: not $verdict of rank $rank"
        [ "$(grep -c "^rank.*$words" "$work/text")" -eq 1 ] || fail "$kind: not one row says '$words'"
        grep -q "^rank $rank .*$words" "$work/text" || fail "$kind: the row of rank $rank does not say '$words'"
        # The end of the run: of the seven others, all but the last cells are the one pending operation.
        n=$(grep '^rank' "$work/text" | grep -v "^rank $rank " | grep -c '░░░░░░░░░░░░░░░░░░░░')
        [ "$waits" = no ] && want=0 || want=7
        [ "$n" -eq "$want" ] || fail "$kind: $n of the other ranks wait, not $want"
        grep -q 'waits for the last rank' "$work/text" && fail "$kind: it waits for a last rank that never came"
    done
done <<'END'
not-joined yes did not join
dead yes process died
mismatch yes does not match the others in
stream-blocked yes launched and never started
stalled-net no stalled in
END

# All are outside NCCL.
gen --hang outside@10
text "$work/run"
grep -q '^OUTSIDE_NCCL: ' "$work/text" || fail "outside: $(sed -n 2p "$work/text")"
[ "$(grep -c '^rank.* outside NCCL' "$work/text")" -eq 8 ] || fail "outside: not all rows say so"

# The same in an SVG: the verdict, the mark, and a title of each pending bar that says what it waits for.
gen --hang not-joined:5@10
"$RINGSCOPE" view "$work/run" -o "$work/x.svg" || fail "no SVG"
grep -q '>NOT_JOINED: not joined by rank 5: ' "$work/x.svg" || fail "SVG: no verdict"
[ "$(grep -c '>did not join AllReduce' "$work/x.svg")" -eq 1 ] || fail "SVG: not one mark"
! command -v xmllint >/dev/null || xmllint --noout "$work/x.svg" || fail "SVG: not well-formed"
grep -q 'all of it waiting: another rank did not arrive' "$work/x.svg" || fail "SVG: nothing waits"
# Of many ranks, the one to blame is drawn.
"$RINGSCOPE" gen -f --ranks 300 --steps 12 --events ops --hang not-joined:271@8 -o "$work/run" >/dev/null || fail "gen 300"
text "$work/run"
grep -q '^rank 271 .*did not join' "$work/text" || fail "300 ranks: rank 271 is not shown"

# Dumps of Flight Recorder: real ones, and such whose last call is the pending one.
text "$data/flight/hang-real/notjoined"
grep -q '^rank 1.*did not join AllReduce 6 ' "$work/text" || fail "dumps: no mark at rank 1"
[ "$(grep -c '^rank [023].*░░░░░░░░░░░░░░░░░░░░' "$work/text")" -eq 3 ] || fail "dumps: not three ranks wait"
text "$data/flight/hang-unseen"
[ "$(grep -c '^rank [012].*░░░░░░░░░░░░░░░░░░░░' "$work/text")" -eq 3 ] || fail "dumps: what is pending has no length"

# No hang: a run that ended, one that was cut off while it ran, and a profile that cannot tell.
gen
text "$work/run"
cp "$work/text" "$work/all"
gen --slow 3:2000
text "$work/run"
cat "$work/text" >>"$work/all"
text "$data/kineto"
cat "$work/text" >>"$work/all"
grep -E '^(NONE|UNKNOWN|[A-Z_]+): ' "$work/all" && fail "a verdict where nothing hangs"
grep -E 'did not join|process died|outside NCCL' "$work/all" && fail "a mark where nothing hangs"
# A window that is asked for is shown, also of a hang.
gen --hang not-joined:5@10
text "$work/run" --from 0.2s --to 0.25s
grep -q '^rank 5 .*did not join' "$work/text" && fail "--to: a mark before its time"

exit $bad
