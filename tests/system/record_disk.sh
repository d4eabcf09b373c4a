#!/bin/bash
# No room on disk, or no place to write to: the job goes on as if nothing had happened, one warning says so, and what is
# not kept is counted.
# shellcheck source=tests/drive/lib.sh
# one at a time: it loads the recorder
source "$(dirname "$0")/../drive/lib.sh"

# mute NAME DIR: a folder that cannot be written to.
mute() {
    rm -rf "$1"
    RINGSCOPE_DIR=$2 "$DRIVE" --count 60000 --threads 2 --truth "$1.truth" >"$1.out" 2>"$1.err"
    same "$?" 0 "$1: exit status"
    same "$(warnings "$1")" 1 "$1: warnings ($(cat "$1.err"))"
}
echo file >plain
mute under_a_file "$PWD/plain/dir"
mute in_proc /proc/nothing/here
mute too_long "$PWD/$(printf 'x%.0s' $(seq 300))"
# Where a folder is missing, it is made.
RINGSCOPE_DIR=$PWD/made/on/the/way "$DRIVE" --count 6000 --truth made.truth >made.out 2>made.err
"$VERIFY" --lossless --truth made.truth made/on/the/way/*.rsc >made.seen || fail "made"

# How small a load becomes on disk depends on how even its times are: a third of a byte a callback where nothing else
# runs. What is to be full holds a tenth of that.

# RLIMIT_FSIZE: no SIGXFSZ in the job, and what the file cannot take is counted.
(
    ulimit -f 128 # of 1 KiB
    fails=0
    drive fsize RINGSCOPE_MEMORY=8M -- --rate 2e6 --seconds 2 --threads 2
    finish
) || fail "fsize: the driver"
verify fsize
[ "$(seen fsize lost)" -gt 0 ] || fail "fsize: nothing was lost"
grep -q 'cannot write' fsize.err || fail "fsize: no warning"

if [ "$(id -u)" != 0 ] || ! unshare -m mount -t tmpfs none "$TMP" 2>/dev/null; then
    finish || exit 1
    echo "needs root, to mount a small file system"
    exit 77
fi

# Recordings on small file systems; with 4 MiB of memory the live file fits beside it (1 MiB), with 8 it
# does not (5 MiB).
full() { # NAME MEMORY KIB
    unshare -m bash -c "
        mkdir -p '$1' && mount -t tmpfs -o size=${3}k none '$1' || exit 77
        env RINGSCOPE_DIR='$1/d' RINGSCOPE_MEMORY=$2 '$DRIVE' --truth '$1.truth' --threads 2 --rate 4e6 --seconds 3 \
            >'$1.out' 2>'$1.err' || exit 1
        cp -r '$1/d' '$1.copy'
        '$VERIFY' --truth '$1.truth' '$1'/d/*.rsc >'$1.seen' 2>'$1.wrong' || exit 2"
    same "$?" 0 "$1: $(head -n 5 "$1.wrong" 2>/dev/null) $(grep -v '^info' "$1.seen" 2>/dev/null | head -n 20 | tr '\n' ' ')"
    same "$(grep -c 'WARN.*cannot write' "$1.err")" 1 "$1: warnings about the disk"
    [ "$(seen "$1" lost)" -gt 0 ] || fail "$1: nothing was lost"
}
full beside 4M 1408
same "$(seen beside place)" 1 "beside: place"
full elsewhere 8M 384
same "$(seen elsewhere place)" 2 "elsewhere: place"

# A read-only file system.
unshare -m bash -c "mkdir -p ro && mount -t tmpfs -o size=1M,ro none ro && RINGSCOPE_DIR=ro/d '$DRIVE' --count 6000" >ro.out 2>ro.err
same "$?" 0 "ro: exit status"
same "$(warnings ro)" 1 "ro: warnings"
finish
