#!/bin/bash
# emitted = kept + overwritten + lost, against the driver's own count: at loads that are kept whole, and when memory or
# the limit on disk runs out.
# sanitizers: thread
# shellcheck source=tests/drive/lib.sh
# one at a time: it loads the recorder
source "$(dirname "$0")/../drive/lib.sh"

seconds=2 rate=5e6 burst=5000000
if [ -n "${SAN:-}" ]; then seconds=1 rate=2e5 burst=500000; fi

# As it comes.
drive plain --count 60003 --threads 2
verify plain --lossless
same "$(seen plain state)" 3 "plain: closed"
"$RINGSCOPE" info --json plain >plain.json || fail "info"
grep -q "\"callbacks\": *$(($(seen plain kept) + 2))\b" plain.json || fail "info: $(head -c 300 plain.json)" # init and finalize too
same "$(ls plain)" "$(basename plain/*.rsc)" "plain: what is left in the folder"

# Sustained. Nothing is promised where the machine has no time for this load (the driver falls behind) or keeps the driver
# from running for a while (it catches up with more than the load).
for threads in 1 2; do
    drive "paced$threads" --rate $rate --seconds "$seconds" --threads "$threads"
    verify "paced$threads"
    achieved=$(told "paced$threads" rate)
    lost=$(seen "paced$threads" lost)
    as_asked=$(awk -v is="$achieved" -v rate="$rate" 'BEGIN { print is > 0.95 * rate && is < 1.1 * rate }')
    [ "$lost" = 0 ] || [ "$as_asked" = 0 ] || fail "paced$threads: $lost lost at $achieved callbacks/s"
    echo "paced, $threads threads: $achieved callbacks/s, $lost lost, $(seen "paced$threads" bytes) bytes"
done

# A burst that the buffers hold: a callback of this row takes 12 bytes in the mean, and 60 MiB hold 5.2 million.
drive burst --count "$burst"
verify burst --lossless
drive burst2 --count $((burst / 2)) --threads 2
verify burst2 --lossless

# Far more than memory and the background thread can take.
drive small RINGSCOPE_MEMORY=4M -- --seconds 1 --threads 2
verify small
[ "$(seen small lost)" -gt 0 ] || [ -n "${SAN:-}" ] || fail "small: nothing was lost"
[ "$(seen small lost_records)" -gt 0 ] || [ -n "${SAN:-}" ] || fail "small: no LOST record"
same "$(warnings small)" "$([ "$(seen small lost)" = 0 ] && echo 0 || echo 1)" "small: warnings"

# More threads than buffers: those without one are counted too.
drive crowd RINGSCOPE_MEMORY=4M -- --count 60000 --threads 64
verify crowd --totals
[ "$(seen crowd lost)" -gt 0 ] || fail "crowd: nothing was lost"

# The limit on disk: stop with a count. Memory is bounded as well, so losses must come. (Even times take little room: where
# nothing else runs, the load below takes four times the limit, and more elsewhere.)
drive limit RINGSCOPE_LIMIT=1M RINGSCOPE_MEMORY=8M -- --seconds "$seconds" --threads 2 --rate 4e6
verify limit
[ "$(seen limit lost)" -gt 0 ] || [ -n "${SAN:-}" ] || fail "limit: nothing was lost"
grep -q 'RINGSCOPE_LIMIT' limit.err || [ -n "${SAN:-}" ] || fail "limit: no warning"
[ "$(seen limit bytes)" -le $((3 << 19)) ] || fail "limit: $(seen limit bytes) bytes on disk"

# The flight recorder: the newest are kept, captured parents are never forgotten.
drive ring RINGSCOPE_LIMIT=1M RINGSCOPE_KEEP=last -- --mode captured --rounds 20 --seconds "$seconds" --threads 2 --rate 4e6
verify ring
[ "$(seen ring overwritten)" -gt 0 ] || [ -n "${SAN:-}" ] || fail "ring: nothing was overwritten"
same "$(told ring captured | sort)" "$(seen ring captured | sort)" "ring: captured parents"
[ "$(seen ring bytes)" -lt $((2 << 20)) ] || fail "ring: $(seen ring bytes) bytes on disk"
drive ringsmall RINGSCOPE_LIMIT=1M RINGSCOPE_KEEP=last RINGSCOPE_MEMORY=4M -- --seconds 1 --threads 2
verify ringsmall

# Copied while it runs, the live file long before the recording: what is written over meanwhile is counted once.
counts() { "$RINGSCOPE" info --json "$1" 2>/dev/null | jq "$2"; }
sum='.callbacks + .lost + .overwritten + .damaged'
env RINGSCOPE_DIR="$PWD/round" RINGSCOPE_LIMIT=1M RINGSCOPE_KEEP=last "$DRIVE" --seconds 60 --rate 1e6 &>/dev/null &
driver=$!
until [ "$(counts round .overwritten)" -gt 0 ] 2>/dev/null || ! kill -0 $driver; do sleep 0.05; done
recording=$(echo round/*.rsc) live=$(echo round/*.live)
[ -e "$live" ] || live=$(in_shm)
mkdir moments
cp "$live" "moments/$(basename "$recording" .rsc).live"
before=$(counts round "$sum")
until [ "$(counts round .overwritten)" -gt "$before" ] || ! kill -0 $driver; do sleep 0.05; done
cp "$recording" moments/
copied=$(counts moments "$sum") after=$(counts round "$sum")
kill -9 $driver && wait $driver 2>/dev/null
[[ $copied -gt $before && $copied -le $after ]] || fail "copied: $copied, of $before then and $after later"
same "$(counts moments '[.emitted, .process_list[0].unknown[0]]' | tr -d '\n ')" '[null,"copied"]' "copied"
finish
