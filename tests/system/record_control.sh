#!/bin/bash
# A second user who can write into the folder of a recording does not steer it: neither by a control file nor by a link.
# shellcheck source=tests/drive/lib.sh
source "$(dirname "$0")/../drive/lib.sh"

other() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
if [ "$(id -u)" != 0 ] || ! other true 2>/dev/null; then
    echo "needs root, to be a second user"
    exit 77
fi
chmod 755 "$TMP"
mkdir -m 1777 shared
: >control.out
RINGSCOPE_EVENTS=0x10 RINGSCOPE_DIR=$PWD/shared "$DRIVE" --mode watch --until 0x930 --seconds 60 --truth control.truth >control.out 2>control.err &
pid=$!
alive() { kill -0 $pid 2>/dev/null; }
# Notes in the recording: what was ignored, and a file of our own that the plugin looked at since.
notes() { "$VERIFY" shared/*.rsc 2>/dev/null | grep -c "^note=.*$1"; }
while [ ! -s control.out ] && alive; do sleep 0.02; done
other sh -c "echo events=off >$PWD/shared/control" || fail "the second user cannot write there"
while [ "$(notes 'not a regular file of the user')" = 0 ] && alive; do sleep 0.05; done
rm shared/control
echo events=off >ours # of the job's user, but not meant
other ln -s "$PWD/ours" shared/control
sleep 1.2 # a look a second
rm shared/control
echo events=0x30 >shared/control
wait $pid
same "$?" 0 "exit status"
same "$(sed -n 's/^mask=//p' control.out | tr '\n' ' ')" "0x910 0x930 " "masks in NCCL"
same "$(notes 'not a regular file of the user')" 1 "notes"
finish
