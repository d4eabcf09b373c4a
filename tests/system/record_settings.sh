#!/bin/bash
# The recorder's settings: which events are asked for, at the start and while the job runs; what is not understood; and
# the ones for tests.
# shellcheck source=tests/drive/lib.sh
source "$(dirname "$0")/../drive/lib.sh"

if [ -n "${SMALL_SHM:-}" ]; then
    echo "needs 256 MiB of /dev/shm, for all masks"
    exit 77
fi

ops=0xff47 net=0xffdf all=0xffff
# GroupApi and KernelLaunch are asked for in any case.
masks="ops=$ops OPS=$ops net=$net all=$all off=0x900 0x12=0x912 18=0x912 nonsense=$net 7x=$net -1=$net =$net"
for pair in $masks; do
    setting=${pair%=*} want=${pair#*=}
    drive events RINGSCOPE_EVENTS="$setting" -- --mode watch --seconds 0.05
    verify events --lossless
    same "$(told events mask)" "$want" "RINGSCOPE_EVENTS=$setting, in NCCL"
    same "$(seen events mask)" "$want" "RINGSCOPE_EVENTS=$setting, in the recording"
    case $setting in nonsense | 7x | -1) expected=1 ;; *) expected=0 ;; esac
    same "$(warnings events)" "$expected" "RINGSCOPE_EVENTS=$setting: warnings"
done

# What is not understood: the default, one warning, and the job goes on.
for bad in RINGSCOPE_MEMORY=lots RINGSCOPE_MEMORY=1k RINGSCOPE_MEMORY=-4M RINGSCOPE_MEMORY=999G RINGSCOPE_LIMIT=5 \
    RINGSCOPE_LIMIT=2X RINGSCOPE_DETAIL=often RINGSCOPE_DETAIL=2s:1s RINGSCOPE_DETAIL=10us:1s RINGSCOPE_TRIGGERS=-1 \
    RINGSCOPE_TRIGGERS=some RINGSCOPE_KEEP=some RINGSCOPE_TEST_CLOCK=soon; do
    drive bad "$bad" -- --count 6000
    verify bad --lossless
    same "$(warnings bad)" 1 "$bad: warnings"
    grep -q "WARN: .*${bad%=*}" bad.err || fail "$bad: $(cat bad.err)"
    seen bad note | grep -q "${bad%=*}" || fail "$bad: not in the recording"
done
for good in RINGSCOPE_MEMORY=8MiB RINGSCOPE_MEMORY=16777216 RINGSCOPE_LIMIT=0 RINGSCOPE_LIMIT=1G RINGSCOPE_KEEP=first \
    RINGSCOPE_DETAIL=200ms:10s RINGSCOPE_DETAIL=always RINGSCOPE_TRIGGERS=0; do
    drive good "$good" -- --count 6000
    verify good --lossless
    same "$(warnings good)" 0 "$good: warnings"
    same "$(seen good "info.env.${good%=*}")" "${good#*=}" "$good: in the recording"
done

# Default folder: by the job's number, else ringscope-run; and it stays where it was though the program moves on.
mkdir here
(cd here && env -u RINGSCOPE_DIR SLURM_JOB_ID=17 "$DRIVE" --count 60 && env -u RINGSCOPE_DIR "$DRIVE" --count 60) >/dev/null 2>&1
same "$(cd here && echo */ | tr -d /)" "ringscope-17 ringscope-run" "default folders"

# The control file, while the job runs; each change is in the recording.
rm -rf control.d
: >control.out # the shell of the job behind makes it too, but perhaps later than it is first read
RINGSCOPE_DIR=$PWD/control.d "$DRIVE" --mode watch --until 0x930 --seconds 200 --truth control.truth >control.out 2>control.err &
pid=$!
wait_for() { # COUNT: until the driver has seen that many masks, or has ended
    while [ "$(wc -l <control.out)" -lt "$1" ] && kill -0 $pid 2>/dev/null; do sleep 0.05; done
}
noted() { "$VERIFY" control.d/*.rsc 2>/dev/null | grep -q '^note=.*has no valid line events='; }
wait_for 1
echo "events=ops" >control.d/control
wait_for 2
printf '# a remark\n events = off \n' >control.d/control
wait_for 3
echo "what is this" >control.d/control
while ! noted && kill -0 $pid 2>/dev/null; do sleep 0.05; done
echo "events=0x30" >control.d/control
wait $pid
same "$?" 0 "control: exit status"
same "$(sed -n 's/^mask=//p' control.out | tr '\n' ' ')" "$net $ops 0x900 0x930 " "control: masks in NCCL"
"$VERIFY" --lossless control.d/*.rsc >control.seen || fail "control"
same "$(seen control mask | tr '\n' ' ')" "$net $ops 0x900 0x930 " "control: masks in the recording"
seen control note | grep -q 'has no valid line events=' || fail "control: the remark on the bad file"

# Another host's name and clock.
now=$(date +%s)
drive far RINGSCOPE_TEST_HOST=node/7 RINGSCOPE_TEST_CLOCK=3600000000000:100 -- --count 6000
verify far --lossless
same "$(seen far host)" node_7 "far: host"
[[ $(echo far/*.rsc) == far/node_7.* ]] || fail "far: $(echo far/*)"
far=$(seen far clock_real | head -n 1)
ahead=$((far / 1000000000 - now))
[ $ahead -ge 3599 ] || fail "far: ahead by $ahead s"
seen far info.test.clock | grep -q '^3600000000000:100' || fail "far: not marked"
finish
