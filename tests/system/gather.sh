#!/bin/bash
# Live files in /dev/shm: read where they are, copied to their recordings by gather, and
# left alone while their process runs, in another pid namespace too.
set -u
cd "${TMP:?}" || exit 1
if [ "$(id -u)" != 0 ] || ! unshare -mpf mount -t tmpfs none "$TMP" 2>/dev/null; then
    echo "needs root, to mount a file system"
    exit 77
fi
mkdir home
unshare -m bash -s <<'END'
set -u
bad=0
say() { echo "line $1: ${*:2}"; bad=1; }
emitted() { "$RINGSCOPE" info --json "$1" 2>err | jq -c '[.emitted, .lost, (.inputs | map(.live_missing) | any)]'; }
sent() { jq -s 'map(select(.kind == "process") | .callbacks) | add' "$1"; }
# A /dev/shm of our own: of the size that we need, and without files of others with the same names.
mount -t ramfs none home && mount -t tmpfs none /dev/shm || exit 77

# Killed: the live file is in /dev/shm until it is gathered.
"$RINGSCOPE" sim --steps 8 --speed 4 --kill 1@4 --notice-seconds 0.2 -o home/killed --truth killed >/dev/null || say $LINENO sim
want="[$(sent killed),0,false]"
[ "$(emitted home/killed)" = "$want" ] || say $LINENO "$(emitted home/killed) instead of $want"
killed=$(jq -r 'select(.kind == "process" and .signal == 9) | .pid' killed)
left=(/dev/shm/ringscope-0-*.live)
[[ ${#left[@]} = 1 && -e ${left[0]} ]] || say $LINENO "there are ${left[*]}"
left=${left[0]}
# Where the lock is held, its process runs, whatever else is known of it.
exec 9<"$left" && flock 9 || say $LINENO "no lock"
said=$("$RINGSCOPE" gather home/killed) || say $LINENO "gather failed"
[[ $said == *"copied 0 live files; left 1"* ]] || say $LINENO "$said"
exec 9<&-
# Nor does it take what is not its own.
chown 65534 "$left"
said=$("$RINGSCOPE" gather home/killed) || say $LINENO "gather failed"
[[ $said == *"copied 0 live files; left 1"* ]] || say $LINENO "$said"
chown 0 "$left"
said=$("$RINGSCOPE" gather home/killed) || say $LINENO "gather failed"
[[ $said == *"copied 1 live file"* ]] || say $LINENO "$said"
# The copy has no lock, and says that its process ended: where the pid means nothing, too.
state=$(unshare -pf --mount-proc "$RINGSCOPE" info --json home/killed 2>/dev/null |
    jq -r ".process_list[] | select(.pid == $killed).state")
[ "$state" = killed ] || say $LINENO "gathered, the process is called $state"
[ "$(emitted home/killed)" = "$want" ] || say $LINENO "$(emitted home/killed) instead of $want"
[ ! -e "$left" ] || say $LINENO "$left is still there"
[ "$(stat -c %a home/killed/*"$killed".live)" = 600 ] || say $LINENO "$(ls -l home/killed)"

# Next to its recording: as small as what it contains, and nothing of that is lost.
"$RINGSCOPE" sim --ranks 4 --steps 30 --speed 4 --kill 1@20 --notice-seconds 0.2 -o /dev/shm/job --truth job >/dev/null || say $LINENO sim
"$RINGSCOPE" sim --ranks 4 --steps 10 --speed 4 --hang 2@6 --hang-seconds 0.5 -o /dev/shm/hung --truth hung >/dev/null || say $LINENO sim
for job in job hung; do
    all() { # without the place of the live file
        emitted /dev/shm/$job
        "$RINGSCOPE" export --format jsonl /dev/shm/$job 2>/dev/null
        "$RINGSCOPE" hang /dev/shm/$job 2>/dev/null
    }
    want=$(all | sha256sum)
    [ "$(emitted /dev/shm/$job)" = "[$(sent $job),0,false]" ] || say $LINENO "$job: $(emitted /dev/shm/$job)"
    [[ $("$RINGSCOPE" info /dev/shm/$job 2>&1 >/dev/null) == *"ringscope gather /dev/shm/$job"* ]] || say $LINENO "info gives no hint"
    said=$("$RINGSCOPE" gather /dev/shm/$job) || say $LINENO "gather failed"
    [[ $said == *"smaller, from "* ]] || say $LINENO "$said"
    [ "$(du -s --apparent-size /dev/shm/$job | cut -f 1)" -lt 4096 ] || say $LINENO "$(ls -l /dev/shm/$job)"
    [ "$(all | sha256sum)" = "$want" ] || say $LINENO "$job: not the same as before"
    [[ $("$RINGSCOPE" gather /dev/shm/$job) != *smaller* ]] || say $LINENO "smaller once more"
    [[ $("$RINGSCOPE" info /dev/shm/$job 2>&1 >/dev/null) != *"ringscope gather"* ]] || say $LINENO "a hint although it is small"
done
rm -r /dev/shm/job /dev/shm/hung

# Running in a container: its pids mean nothing here, but its heart beats.
for steps in 300 3000; do # a longer one, where all this takes so long that it is over meanwhile
    rm -rf home/running
    setsid unshare -pf --kill-child "$RINGSCOPE" sim --ranks 2 --steps $steps -o home/running --truth running >/dev/null &
    job=$!
    until [ "$(jobs=$("$RINGSCOPE" info --json home/running 2>/dev/null) && jq .processes <<<"$jobs")" = 2 ] || ! kill -0 $job 2>/dev/null; do
        sleep 0.05
    done
    # Stopped, and not heard of for long: that is no proof that it ended.
    kill -STOP -- -$job
    for file in home/running/*.rsc; do printf '\1\0\0\0\0\0\0\0' | dd of="$file" bs=1 seek=408 conv=notrunc status=none; done
    for file in /dev/shm/ringscope-*.live; do printf '\1\0\0\0\0\0\0\0' | dd of="$file" bs=1 seek=248 conv=notrunc status=none; done
    stopped=$("$RINGSCOPE" gather home/running) || say $LINENO "gather failed"
    kill -CONT -- -$job
    sleep 0.3 # for a heartbeat
    said=$("$RINGSCOPE" gather home/running) || say $LINENO "gather failed"
    ended=$("$RINGSCOPE" info --json home/running | jq -c '[.process_list[].state] | unique')
    wait
    [[ $ended == *closed* ]] || break
done
[[ $stopped == *"copied 0 live files"* ]] || say $LINENO "stopped: $stopped"
[[ $said == *"copied 0"*"2 still running"* ]] || say $LINENO "$said"
[ "$ended" = '["running"]' ] || say $LINENO "$ended"
want="[$(sent running),0,false]"
[ "$(emitted home/running)" = "$want" ] || say $LINENO "$(emitted home/running) instead of $want"
exit $bad
END
