#!/bin/bash
# Descriptors: the recorder's are not the program's, whatever the program does to its own, and it holds nothing of the
# program's open. Where a container refuses it a table of its own, it still writes into no file but the recording. And
# threads of ours do not keep a process alive that is over.
# shellcheck source=tests/drive/lib.sh
# one at a time: it loads the recorder
source "$(dirname "$0")/../drive/lib.sh"

close_range=436 # on all machines
case $(uname -m) in x86_64) unshare=272 prctl=157 ;; *) unshare=97 prctl=167 ;; esac
limit=$(ulimit -n)
[ "$limit" -le 16384 ] || limit=16384

# shellcheck disable=SC2016 # for the other shell
without_proc=(unshare -m --propagation private bash -c 'umount -l /proc && exec "$@"' -)
unfinished=
if [ "$(id -u)" = 0 ] && [ -z "${SAN:-}" ] && "${without_proc[@]}" true 2>/dev/null; then
    # Main ends, with a communicator alive: that is noticed after 5 s, in the meantime there is more to do.
    RINGSCOPE_DIR=$PWD/unfinished timeout -s KILL 300 "${without_proc[@]}" "$DRIVE" --count 6000 --end thread \
        >unfinished.out 2>&1 &
    unfinished=$!
fi

# refused NAME CALLS: what is refused; a table of its own is had with either call.
for refused in none=9999 one=$close_range both=$close_range,$unshare; do
    name=${refused%=*} calls=${refused#*=}
    drive "$name" -- --mode belongings --refuse "$calls"
    verify "$name" --lossless
    for what in pipe port lock; do same "$(told "$name" ${what}_held)" 0 "$name: the program's $what is held"; done
    if [ "$name" = both ]; then
        [ "$(told both descriptor)" -ge $((limit - 64)) ] || fail "both: descriptor $(told both descriptor) of $limit"
    else
        same "$(told "$name" descriptor)" -1 "$name: the recording among the program's descriptors"
    fi
    drive "race$name" -- --mode descriptors --threads 2 --rate 1e6 --seconds 1 --refuse "$calls"
    same "$(told "race$name" written)" 0 "$name: files of the program that were written into"
    [ "$(told "race$name" rounds)" -gt 0 ] || fail "$name: no rounds"
done

# Two copies of the recorder, and main ends by pthread_exit: each must see that only the other is left. Where prctl is
# refused, threads cannot name themselves. Without /proc it goes by communicators and callers: none may be left.
cp "$PLUGIN" second.so
over() { # NAME COMMAND..., with $end: how the driver ends, and $refuse: a system call
    # shellcheck disable=SC2154 # set where it is called
    RINGSCOPE_DIR=$PWD/$1 timeout -s KILL 300 "${@:2}" "$DRIVE" --count 6000 --second "$PWD/second.so" --end "$end" \
        --refuse "${refuse:-9999}" >"$1.out" 2>"$1.err"
    same "$?" 0 "$1: exit status"
    for f in "$1"/*.rsc; do
        "$VERIFY" "$f" >over.seen 2>&1
        same "$(seen over state)" 3 "$f: closed"
    done
}
[ -n "${SAN:-}" ] || end=thread over copies env
[ -n "${SAN:-}" ] || refuse=$prctl end=thread over nameless env
if [ -n "$unfinished" ]; then
    end=over over noproc "${without_proc[@]}"
    wait "$unfinished"
    same "$?" 0 "without /proc, not finalized: exit status"
    "$VERIFY" unfinished/*.rsc >unfinished.seen 2>&1
    same "$(seen unfinished state)" 3 "without /proc, not finalized: closed"
fi
finish
