#!/bin/bash
# A recording that was cut off or has one wrong bit, anywhere, however its process ended and whatever it kept: what is
# missing is counted exactly, or the reader says that it does not know. Never "Nothing is missing".
# sanitizers: address
# shellcheck source=tests/drive/lib.sh
# one at a time: it loads the recorder
source "$(dirname "$0")/../drive/lib.sh"
tries=75
[ -z "${SAN:-}" ] || tries=30

# spoil NAME: the one recording in the folder NAME against NAME.truth.
spoil() {
    local files=("$1"/*.rsc)
    "$BUILD/tests/spoil" --truth "$1.truth" --tries $tries --seed "${SEED:-15}" "${files[0]}" >"$1.said" 2>"$1.wrong" ||
        fail "$1: $(head -n 5 "$1.wrong")"
    echo "$1: $(cat "$1.said")"
}
load=(--threads 2 --rate 120000 --seconds 0.5)
drive closed RINGSCOPE_MEMORY=6M -- "${load[@]}"
spoil closed
want_status=137 drive killed RINGSCOPE_MEMORY=6M -- --threads 2 --rate 120000 --seconds 9 --kill-playing 450000 2>/dev/null
spoil killed
# Killed as soon as something was written, at a rate at which chunks follow each other closely.
want_status=137 drive early RINGSCOPE_MEMORY=6M -- --threads 2 --rate 2e6 --seconds 5 --kill-playing 50000 2>/dev/null
spoil early
drive ring RINGSCOPE_MEMORY=6M RINGSCOPE_LIMIT=16M RINGSCOPE_KEEP=last -- "${load[@]}"
spoil ring
# As fast as it goes: the ring goes round, and its chunks are not compressed.
fast=(RINGSCOPE_MEMORY=4M RINGSCOPE_LIMIT=1M)
for seconds in 0.2 2 20; do # longer where the machine is busy
    drive round "${fast[@]}" RINGSCOPE_KEEP=last -- --threads 2 --seconds $seconds
    verify round
    [ "$(seen round overwritten)" = 0 ] || break
done
spoil round
[[ $(cat round.said) != *" 0 overwritten"* ]] || fail "round: it did not go round"
want_status=137 drive killed_round "${fast[@]}" RINGSCOPE_KEEP=last -- --threads 2 --seconds 5 --kill-playing 200000 2>/dev/null
spoil killed_round
for seconds in 0.2 2 20; do
    drive limited "${fast[@]}" -- --threads 2 --seconds $seconds
    verify limited
    [ "$(seen limited lost)" = 0 ] || break
done
spoil limited
[[ $(cat limited.said) != *" 0 lost"* ]] || fail "limited: the limit was not reached"
finish
