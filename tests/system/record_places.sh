#!/bin/bash
# Where buffers live: in memory that no callback waits for, within bounds, for their owner alone; what a kill leaves is found,
# and cleared up by the next process; what others do to the files or to the disk harms no callback and no exit.
# shellcheck source=tests/drive/lib.sh
# one at a time: it loads the recorder
source "$(dirname "$0")/../drive/lib.sh"

export DRIVE
# A disk whose writes take for ever: exit waits 10 s and no longer. Meanwhile the rest.
cat >slow.c <<'END'
#define _GNU_SOURCE
#include <sys/uio.h>
#include <unistd.h>
ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
    (void)fd, (void)parts, (void)n, (void)at;
    for (;;) pause();
}
END
slow=
if [ -z "${SAN:-}" ] && "${CC:-cc}" -shared -fPIC -o slow.so slow.c; then
    {
        SECONDS=0
        drive slow RINGSCOPE_BUFFERS=memory LD_PRELOAD="$PWD/slow.so" -- --count 6000
        echo $SECONDS >slow.took
    } &
    slow=$!
fi
slow_took() {
    [ -n "$slow" ] || return
    wait $slow
    (($(cat slow.took) >= 9 && $(cat slow.took) < 120)) || fail "slow: exit took $(cat slow.took) s"
}

mode() { stat -c %a "$1"; }
# Killed a while after the start, with buffers where the setting says.
killed() { # NAME SETTING [AFTER-US]
    want_status=137 drive "$1" RINGSCOPE_BUFFERS="$2" -- --threads 2 --rate 200000 --seconds 60 --kill-playing "${3:-300000}" 2>/dev/null
}

if [ "$(stat -f -c %T .)" != tmpfs ]; then
    killed shm shm
    verify shm --killed --lossless
    same "$(seen shm place)" 2 "shm: place"
    live=$(in_shm)
    [[ $live =~ ^/dev/shm/ringscope-$(id -u)-[0-9a-f]{16}\.live$ ]] || fail "shm: the live file is '$live'"
    same "$(mode shm) $(mode shm/*.rsc) $(mode "$live")" "700 600 600" "shm: modes"
    # The next process brings it to its recording; that of a recording that is gone, it removes.
    cp "$live" gone.live
    drive next --count 600
    for ((i = 0; i < 200; i++)); do [ -e "$live" ] || break; drive next --count 600; done
    [ ! -e "$live" ] || fail "shm: $live is still there"
    verify shm --killed --lossless
    same "$(mode shm/*.live)" 600 "shm: mode of the copy"
    # But for the word that says that this is a copy, and of a process that has ended: `locked`, at 496.
    same "$(cmp -l shm/*.live gone.live | tr -s ' ' | paste -sd,)" " 497 2 1" "shm: the copy"
    killed gone shm
    rm -r gone
    for ((i = 0; i < 200; i++)); do [ -n "$(in_shm)" ] || break; drive next --count 600; done
    same "$(in_shm)" "" "gone: left in /dev/shm"

    killed disk disk
    verify disk --killed --lossless
    same "$(seen disk place) $(mode disk/*.live)" "4 600" "disk: place"
fi
# Private memory: a kill costs what the last 50 ms had; more where the machine is busy, and then it is killed later.
for after in 300000 2000000 10000000; do
    killed memory memory $after
    "$VERIFY" memory/*.rsc >memory.seen
    [ "$(seen memory kept)" -le 10000 ] || break
done
same "$(seen memory place)" 3 "memory: place"
[ "$(seen memory kept)" -gt 10000 ] || fail "memory: $(seen memory kept) callbacks kept of $after us"

# A recording that another program cuts while it is written: its end can be read.
drive cut -- --threads 2 --rate 100000 --seconds 2.5 &
cut=$!
until "$VERIFY" cut/*.rsc 2>/dev/null | grep -q '^kept=[1-9]' || ! kill -0 $cut 2>/dev/null; do sleep 0.05; done
truncate -s 0 cut/*.rsc
wait $cut
"$VERIFY" cut/*.rsc >cut.seen 2>cut.wrong
[ "$(seen cut kept)" -gt 1000 ] || fail "cut: $(cat cut.wrong)"
seen cut note | grep -q 'was truncated by another program' || fail "cut: no note"
same "$(seen cut state)" 3 "cut: closed"

if [ "$(id -u)" != 0 ] || ! unshare -m mount -t tmpfs none "$TMP" 2>/dev/null; then
    slow_took
    finish || exit 1
    echo "needs root, to mount file systems and be another user"
    exit 77
fi

# Containers have 64 MiB of /dev/shm, and NCCL needs it: 8 ranks take a quarter at most, and kills add nothing to it.
mkdir small
# shellcheck disable=SC2016 # for the other shell
unshare -m --propagation private bash -c '
    mount -t tmpfs -o size=64m none /dev/shm || exit 77
    for round in 1 2 3; do
        for i in 1 2 3 4 5 6 7 8; do
            RINGSCOPE_DIR=small/$i "$DRIVE" --rate 1000 --seconds 60 --kill-playing 400000 >/dev/null 2>&1 &
        done
        wait
        [ "$(df -k --output=used /dev/shm | tail -n 1)" -le 16384 ] || df -k /dev/shm
    done
    for ((i = 0; i < 200; i++)); do
        [ -n "$(ls /dev/shm)" ] || exit
        RINGSCOPE_DIR=last "$DRIVE" --count 600
    done
    ls /dev/shm' >small.out 2>/dev/null
same "$(grep -v = small.out)" "" "small: /dev/shm"
for f in small/*/*.rsc; do
    "$VERIFY" "$f" >small.seen 2>&1
    same "$(seen small live_missing)" 0 "$f: live file"
done

# A file system that is frozen for as long as the job calls: no callback waits for it.
truncate -s 200M image
# shellcheck disable=SC2016 # for the other shell
unshare -m --propagation private bash -c '
    mkfs.ext4 -q image && mkdir mnt && mount -o loop image mnt || exit 77
    : >frozen.out
    RINGSCOPE_DIR=mnt/d "$DRIVE" --mode timed --rate 20000 --seconds 2 --truth frozen.truth >frozen.out 2>/dev/null &
    until grep -qs RNSCOP1 mnt/d/*.rsc || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
    sleep 0.2
    fsfreeze -f mnt || exit 77
    for ((i = 0; i < 600; i++)); do ! grep -q longest frozen.out || break; sleep 0.05; done
    sleep 0.3
    fsfreeze -u mnt
    wait
    mkdir frozen && cp mnt/d/*.rsc frozen/' 2>/dev/null
case $? in
77) echo "no frozen file system: cannot mount an image" ;;
*)
    verify frozen --lossless
    longest=$(told frozen longest)
    [ "${longest%.*}" -lt 10 ] || fail "frozen: a callback waited $longest s" # it is frozen for 30 s then
    ;;
esac

# Another user of the host: cannot read, take the names that come next, or lead us elsewhere.
other() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
chmod 755 "$TMP"
mkdir -m 1777 open
drive open/first -- --count 600
! other cat open/first/*.rsc >/dev/null 2>&1 || fail "another user can read a recording"
mkdir -m 1777 taken
# shellcheck disable=SC2016 # for the other shell
RINGSCOPE_TEST_HOST=H RINGSCOPE_DIR=$PWD/taken bash -c '
    setpriv --reuid 65534 --regid 65534 --clear-groups touch taken/H.$$.rsc taken/H.$$.{1..40}.rsc
    exec "$DRIVE" --count 600 --truth taken.truth' >taken.out 2>taken.err
mine=$(find taken -user 0 -name '*.rsc')
"$VERIFY" --lossless --truth taken.truth "$mine" >taken.seen 2>&1 || fail "taken: no recording where all names are taken: $(cat taken.err taken.seen)"
mkdir -m 777 theirs
other ln -s "$PWD/theirs" open/link
RINGSCOPE_DIR=$PWD/open/link "$DRIVE" --count 600 >link.out 2>link.err
same "$? $(ls theirs)" "0 " "link: what another user's link leads to"

slow_took
finish
