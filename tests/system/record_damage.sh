#!/bin/bash
# Damaged and cut recordings: what is whole is read, what is not is named with file, offset and reason, sums stay right,
# and nothing crashes.
# sanitizers: address
# shellcheck source=tests/drive/lib.sh
# one at a time: it loads the recorder
source "$(dirname "$0")/../drive/lib.sh"
RANDOM=${SEED:-99}
tries=80
[ -z "${SEEDS:-}" ] || tries=1000
[ -z "${SAN:-}" ] || tries=40

# A recording of several chunks, and one that a kill left with its live file.
drive whole RINGSCOPE_MEMORY=6M -- --threads 2 --rate 100000 --seconds 2.3
verify whole --lossless
good=$(echo whole/*.rsc)
size=$(stat -c %s "$good")
total=$(seen whole kept)

# look NAME: reads a damaged one; status 0 or 1 (something is missing) or 2 (cannot be opened, and why is said).
look() {
    "$VERIFY" "$1.rsc" >"$1.seen" 2>"$1.wrong"
    status=$?
    [ $status -le 2 ] || fail "$1: status $status: $(tail -n 3 "$1.wrong")"
    [ $status != 2 ] || [ -s "$1.wrong" ] || fail "$1: cannot be opened, and nothing says why"
    [ $status = 2 ] || grep -q '^kept=' "$1.seen" || fail "$1: $(cat "$1.wrong")"
}
# Whatever is missing is named: kept + damaged is the whole, and a damage is listed.
accounted() {
    local kept damaged
    kept=$(seen "$1" kept) damaged=$(seen "$1" damaged)
    [ "$kept" -le "$total" ] || fail "$1: $kept of $total"
    [ "$kept" = "$total" ] || [ "$(seen "$1" damages)" -gt 0 ] || fail "$1: $kept of $total, and no word of it"
    [ $((kept + damaged)) = "$total" ] || fail "$1: $kept kept + $damaged damaged of $total"
}
random() { echo $(((RANDOM * 32768 + RANDOM) % $1)); }
put() { printf "%b" "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
starts=$(grep -obUaP 'RSCK' "$good" | cut -d: -f1)
chunks=$(echo "$starts" | wc -l)
[ "$chunks" -ge 6 ] || fail "only $chunks chunks"

# Cut off: inside the header, at a chunk's border, inside a chunk's header and body, anywhere.
for at in 0 3 8 500 1023; do
    head -c "$at" "$good" >cut.rsc
    look cut
    same "$status" 2 "cut at $at: status"
    grep -q 'cut.rsc' cut.wrong || fail "cut at $at: $(cat cut.wrong)"
done
for at in 1024 $starts $(for s in $starts; do echo $((s + 50)) $((s + 112)) $((s + 120)); done) $((size - 1)) $(for ((i = 0; i < tries / 5; i++)); do random "$size"; done); do
    [ "$at" -ge 1024 ] || continue
    head -c "$at" "$good" >cut.rsc
    look cut
    same "$((status < 2))" 1 "cut at $at: readable"
    accounted cut
done

# Bytes flipped, one at a time, anywhere behind the magic: never a crash, never a silent gap.
for ((i = 0; i < tries; i++)); do
    at=$((8 + $(random $((size - 8)))))
    cp "$good" flip.rsc
    put flip.rsc "$at" "\\x$(printf '%02x' "$(random 256)")"
    cmp -s "$good" flip.rsc && continue
    look flip
    [ $status = 2 ] || [ "$at" -lt 1024 ] || accounted flip
    if [ "$at" -ge 1024 ]; then
        [ "$(seen flip kept)" -gt 0 ] || fail "flip at $at: nothing is read"
        where=$(seen flip damage | head -n 1)
        [[ -z $where || $where == flip.rsc\ * ]] || fail "flip at $at: $where"
        # Where no damage is told (between chunks there are bytes that mean nothing), all is as it was played.
        [ -n "$where" ] || "$VERIFY" --truth whole.truth --lossless flip.rsc >/dev/null 2>flip.wrong || fail "flip at $at: $(head -n 2 flip.wrong)"
    fi
done

# A chunk of zeros, a wrong magic, a chunk of another recording, rubbish between chunks and behind the last.
middle=$(echo "$starts" | sed -n "$((chunks / 2))p")
next=$(echo "$starts" | sed -n "$((chunks / 2 + 1))p")
cp "$good" zero.rsc
dd if=/dev/zero of=zero.rsc bs=1 seek="$middle" count=$((next - middle)) conv=notrunc status=none
look zero
accounted zero
same "$(seen zero damage | cut -d' ' -f1-3)" "zero.rsc $middle $((next - middle))" "zero: the place"
printf 'XXXXXXXX' | cat - <(tail -c +9 "$good") >magic.rsc
look magic
same "$status" 2 "magic: status"
{ cat "$good" && printf 'rubbish rubbish' ; } >tail.rsc
look tail
same "$(seen tail kept) $(seen tail damages)" "$total 1" "tail"
{ head -c "$middle" "$good" && head -c 4096 /dev/urandom && tail -c +$((middle + 1)) "$good"; } >between.rsc
look between
same "$(seen between kept) $(seen between damages)" "$total 1" "between"
# Twice the same chunk must not count twice.
{ cat "$good" && tail -c +$((middle + 1)) "$good" | head -c $((next - middle)); } >twice.rsc
look twice
same "$(seen twice kept)" "$total" "twice"

# A kill's live file, cut, flipped, or gone.
want_status=137 drive killed RINGSCOPE_BUFFERS=disk -- --threads 2 --rate 100000 --seconds 9 --kill-playing 400000 2>/dev/null
verify killed --killed --lossless
recording=$(echo killed/*.rsc) live=$(echo killed/*.live)
all=$(seen killed kept)
for cut in 0 100 4096 70000 1000000; do
    cp "$recording" left.rsc
    head -c $cut "$live" >left.live
    look left
    [ "$(seen left kept)" -lt "$all" ] || [ "$cut" -ge 1000000 ] || fail "live file cut at $cut: nothing is missing"
    [ "$(seen left damages)" -gt 0 ] || [ "$(seen left live_missing)" = 1 ] || fail "live file cut at $cut: no word of it"
done
for ((i = 0; i < tries / 2; i++)); do
    cp "$recording" left.rsc
    head -c 1000000 "$live" >left.live
    for _ in 1 2 3 4; do put left.live "$(random 1000000)" "\\x$(printf '%02x' "$(random 256)")"; done
    put left.live "$((4096 + $(random 4096)))" "\\x$(printf '%02x' "$(random 256)")"
    look left
done
rm left.live
look left
same "$(seen left live_missing)" 1 "live file gone"
finish
