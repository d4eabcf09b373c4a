#!/bin/bash
# long
# kill -9 at random moments: every callback that had returned is read back, exactly once, at a load that is kept whole;
# with losses, each is either read back or counted.
# shellcheck source=tests/drive/lib.sh
# one at a time: it loads the recorder
source "$(dirname "$0")/../drive/lib.sh"
RANDOM=${SEED:-4711}
kills=${KILLS:-80}

# one NAME MAX_USEC: a run of $load with $settings that ends by SIGKILL, and what it left. Every other one is killed at some
# time after its start, perhaps before it has recorded anything; those between at some time after the recording is open.
opened=0 empty=0 whole=0 kill=--kill-after
one() {
    local name=$1 at=$((RANDOM * 32768 + RANDOM)) files
    at=$((at % $2 + 1))
    case $kill in --kill-after) kill=--kill-playing ;; *) kill=--kill-after ;; esac
    rm -rf "$name" "$name.truth"
    { # the shell tells of the kill on its own standard error
        env RINGSCOPE_DIR="$PWD/$name" "${settings[@]}" "$DRIVE" --truth "$name.truth" "$kill" "$at" "${load[@]}" \
            >"$name.out" 2>"$name.err"
        status=$?
    } 2>/dev/null
    [ $status = 137 ] || [ $status = 0 ] || fail "$name, $kill $at: status $status"
    [ $status != 0 ] || whole=$((whole + 1))
    files=("$name"/*.rsc)
    if [ ! -s "${files[0]}" ]; then # died before it had recorded anything: then nothing may have returned
        empty=$((empty + 1))
        [ ! -s "$name.truth" ] || [ -z "$(tr -d '\0' <"$name.truth" | tail -c +6)" ] || fail "$name: no recording, $kill $at"
        return
    fi
    opened=$((opened + 1))
    "$VERIFY" --truth "$name.truth" --killed "${check[@]}" "${files[0]}" >"$name.seen" 2>"$name.wrong" ||
        fail "$name ${settings[*]} ${load[*]}, $kill $at: $(head -n 3 "$name.wrong") $(head -n 14 "$name.seen" | tr '\n' ' ')"
}

# A load that is kept whole, in buffers that go round many times a second.
settings=(RINGSCOPE_MEMORY=6M) load=(--threads 2 --rate 1e6 --seconds 5) check=(--lossless)
for ((i = 0; i < kills * 9 / 10; i++)); do one paced 150000; done
# Long enough for partly filled buffers to be sealed too, more than once, and with the usual memory.
settings=(RINGSCOPE_MEMORY=64M) load=(--threads 3 --rate 6000 --seconds 5) check=(--lossless)
for ((i = 0; i < kills / 20; i++)); do one slow 3500000; done
# With the buffers on a disk.
settings=(RINGSCOPE_MEMORY=6M RINGSCOPE_BUFFERS=disk) load=(--threads 2 --rate 1e6 --seconds 5)
for ((i = 0; i < kills / 10; i++)); do one disk 150000; done
# As fast as it goes, with few buffers: kills fall between sealing and reuse.
settings=(RINGSCOPE_MEMORY=4M) load=(--threads 2 --seconds 5) check=()
for ((i = 0; i < kills / 2; i++)); do one unpaced 150000; done
# The flight recorder, killed while it writes over its oldest.
settings=(RINGSCOPE_MEMORY=6M RINGSCOPE_LIMIT=1M RINGSCOPE_KEEP=last) load=(--threads 2 --rate 3e6 --seconds 5)
for ((i = 0; i < kills / 4; i++)); do one ring 400000; done
# In it, a thread that calls rarely beside some that go round: what it has in its buffer is written over in the ring, and does
# not come back from the live file.
want_status=137 drive rare RINGSCOPE_LIMIT=1M RINGSCOPE_KEEP=last -- --mode captured --rounds 20 --threads 2 --rate 4e6 --seconds 9 --kill-playing 2200000 2>/dev/null
verify rare --killed
echo "$opened recordings read, $empty without one, $whole ended before their kill"
[ "$opened" -gt $((kills / 2)) ] || fail "only $opened recordings"
finish
