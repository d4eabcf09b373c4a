#!/bin/bash
# What holds for every format: nothing of the user's is overwritten or lost, with --force neither, and after a failure (a
# full disk, a closed pipe, a signal) there is no file that could be taken for a whole one, and none that is left behind.
# sanitizers: address
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
data=$root/tests/data
cd "${TMP:?}" || exit 1
bad=0
say() {
    echo "line ${BASH_LINENO[0]}: $*"
    bad=1
}
is() { # WHAT GOT WANTED
    [ "$2" = "$3" ] || say "$1: $2, not $3"
}
status() { # WANTED COMMAND...
    local want=$1 got
    shift
    timeout 300 "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$want" ] || say "$*: exit status $got instead of $want ($(head -n 2 err))"
}
saying() { grep -qF -- "$1" err || say "'$1' is not said, but: $(cat err)"; }
# all_of FORMAT: as words, the options with which it has the most events.
all_of() {
    case $1 in
    csv) echo "--format csv --table events --level all" ;;
    jsonl | rsc) echo "--format $1" ;;
    *) echo "--format $1 --level all" ;;
    esac
}
on() { "$RINGSCOPE" --version | grep -q "$1 *on"; }

# Formats that this build has, as "name suffix".
formats=("chrome .json" "perfetto .pftrace" "csv .csv" "jsonl .jsonl" "rsc -")
on otf2 && formats+=("otf2 -")
on sqlite && formats+=("sqlite .sqlite")

"$RINGSCOPE" gen -w mix --ranks 2 --hosts 2 --steps 2 --no-truth -o run >/dev/null 2>&1 || say "gen"

# ---- which format, and where to ----
status 2 "$RINGSCOPE" export run
saying "which format?"
status 2 "$RINGSCOPE" export --format nothing run
saying "unknown format 'nothing'; there are chrome, perfetto"
# --to is a time, and a format where it names one, as it did before there was --format.
status 0 "$RINGSCOPE" export --to csv run
mv out alias.csv
status 0 "$RINGSCOPE" export -t csv run
cmp out alias.csv || say "--to csv is not --format csv"
status 0 "$RINGSCOPE" export --to csv --to 100ms run
mv out alias.csv
status 0 "$RINGSCOPE" export --to 100ms --format csv run
cmp out alias.csv || say "--to csv --to TIME is not --format csv --to TIME"
status 2 "$RINGSCOPE" export --to nothing run
saying "neither a time (1.5s) nor a format (--format: chrome, perfetto"
status 2 "$RINGSCOPE" export --to csv --format chrome run
saying "a second format"
status 2 "$RINGSCOPE" export --format 2s run
saying "unknown format '2s'"
status 2 "$RINGSCOPE" export --format csv --to 5 run
saying "takes a time"
status 2 "$RINGSCOPE" export --format chrome --table ranks run
status 2 "$RINGSCOPE" export --format csv --table nothing run
status 2 "$RINGSCOPE" export --format chrome --kineto x run
status 2 "$RINGSCOPE" export --format jsonl --rows channels run
status 2 "$RINGSCOPE" export --format csv --from yesterday run
status 2 "$RINGSCOPE" export --format csv --to 1s --from 2s run
saying "a span that ends before it begins"
# What a format would ignore is refused.
for f in "jsonl --level ops" "rsc --level all -o x" "kineto --rows channels" "csv --level all" "csv --table ranks --rows channels" \
    "csv --title x" "perfetto --title x -o x" "jsonl --title x" "chrome --rows channels --level all"; do
    # shellcheck disable=SC2086 # words
    status 2 "$RINGSCOPE" export --format $f run
done
status 2 "$RINGSCOPE" export --format jsonl --level ops run
saying "--level changes nothing here: jsonl keeps all events of an operation"
status 2 "$RINGSCOPE" export --format csv --level ops run
saying "--level changes nothing here: it goes with --table events"
status 2 "$RINGSCOPE" export --format csv run -o ''
status 2 "$RINGSCOPE" export --format rsc run
saying "name a folder with -o"
status 1 "$RINGSCOPE" export --format csv nothing_there
status 1 "$RINGSCOPE" export --format kineto run -o k.json
saying "none of the inputs is a trace of PyTorch's profiler"
status 1 "$RINGSCOPE" export --format rsc "$data/kineto" -o k
saying "no recording of ringscope"
for name in run.csv run.pftrace run.perfetto-trace run.jsonl run.csv.gz run.csv.zst; do
    status 0 "$RINGSCOPE" export run -o "$name"
done
gzip -dc run.csv.gz | cmp - run.csv || say ".gz is another table"
if command -v zstd >/dev/null; then zstd -dcq run.csv.zst | cmp - run.csv || say ".zst is another table"; fi
cmp run.pftrace run.perfetto-trace || say ".perfetto-trace is another trace"
if "$RINGSCOPE" --version | grep -q 'sqlite *on'; then
    for name in run.db run.sqlite3 run.sqlite; do
        status 0 "$RINGSCOPE" export run -o "$name"
        is "$name" "$(head -c 13 "$name")" "SQLite format"
    done
fi
is "a table has operations" "$(head -c 8 run.csv)" "op,comm,"
if command -v script >/dev/null; then
    script -qec "'$RINGSCOPE' export --format perfetto run" /dev/null >err </dev/null
    is "protobuf on a terminal: exit status" $? 2
    saying "nothing for a terminal"
fi
# Names as they may be: long, with a line end, no UTF-8, with a dash in front.
for name in "$(printf 'n%.0s' {1..250})" $'line\nend \xff' ./--force; do
    status 0 "$RINGSCOPE" export --format csv run -o "$name"
    cmp "$name" run.csv || say "$name: another table"
done
status 0 "$RINGSCOPE" export --format rsc run -o "$(printf 'r%.0s' {1..255})/"

# ---- names of others that are no text: what comes out is UTF-8, for those who read it ----
bad_name=$'bad\xff.json'
printf '{"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": [
{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "th\xed\xa0\x80read"}},
{"ph": "X", "cat": "user_annotation", "name": "st\xffep", "pid": 1, "tid": 1, "ts": 0.5, "dur": 90, "args": {}},
{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 1, "dur": 5, "args": {"External id": 1, "Collective name": "allreduce", "In msg nelems": 4, "dtype": "Float", "Process Group Name": "\xc3(", "Process Group Description": "d\xffe", "Process Group Ranks": "[0]", "Group size": 1, "Seq": 1}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "pid": 0, "tid": 7, "ts": 10, "dur": 5, "args": {"External id": 1, "device": 0, "stream": 7, "correlation": 3}}
]}' >"$bad_name"
for f in "${formats[@]}"; do
    name=${f% *}
    case $name in rsc | jsonl) continue ;; esac
    # shellcheck disable=SC2046 # words
    status 0 "$RINGSCOPE" export $(all_of "$name") "$bad_name" -o "bad.$name"
    case $name in
    chrome | csv) cp "bad.$name" text ;;
    perfetto) command -v protoc >/dev/null && protoc --decode=perfetto.Trace --proto_path="$data" perfetto.proto <bad.perfetto 2>text >/dev/null && [ -s text ] && say "$(cat text)" ;;
    otf2) command -v otf2-print >/dev/null && otf2-print -G bad.otf2/traces.otf2 >text ;;
    sqlite) command -v sqlite3 >/dev/null && sqlite3 bad.sqlite .dump >text ;;
    esac
    iconv -f utf-8 -t utf-8 text >/dev/null || say "$name: no UTF-8"
done

# ---- nothing passes: a whole output without operations, and a word about it ----
for f in "${formats[@]}"; do
    name=${f% *}
    status 0 "$RINGSCOPE" export --format "$name" --from 0s --to 1ns run -o "empty.$name"
    saying "none passes the filters"
done
is "csv of nothing" "$(wc -l <empty.csv)" 1
is "chrome of nothing" "$(jq '[.traceEvents[] | select(.args.op?)] | length' empty.chrome)" 0
is "jsonl of nothing" "$(grep -c '"call":"start"' empty.jsonl)" 0

# ---- what exists stays, unless it is to be replaced; nothing of an attempt is left ----
tmps() { find . -maxdepth 2 \( -name '.*.??????' -o -name '.*.tmp*' \) | wc -l; }
for f in "${formats[@]}"; do
    name=${f% *}
    out=empty.$name
    status 1 "$RINGSCOPE" export --format "$name" run -o "$out"
    saying "exists already"
    status 0 "$RINGSCOPE" export --format "$name" --force run -o "$out"
    if [ -d "$out" ]; then
        echo mine >"$out/notes.txt"
        status 1 "$RINGSCOPE" export --format "$name" --force run -o "$out"
        saying "name another folder"
        [ -f "$out/notes.txt" ] || say "$name: the user's file is gone"
        status 1 "$RINGSCOPE" export --format "$name" --force run -o run.csv
    else
        mkdir -p folder
        status 1 "$RINGSCOPE" export --format "$name" --force run -o folder
    fi
    status 1 "$RINGSCOPE" export --format "$name" run -o "not/there/$name"
    is "$name: left behind" "$(tmps)" 0
done
is "the user's file after all that" "$(head -c 8 run.csv)" "op,comm,"
# Folders that look a little like an archive of OTF2: traces of others, archives of others.
if on otf2; then
    mkdir -p look1/traces look2/a.otf2
    echo mine >look1/traces/rank0.json
    echo mine >look2/a.otf2/traces.def
    for name in look1 look2; do
        status 1 "$RINGSCOPE" export --format otf2 --force run -o $name
        saying "name another folder"
        is "$name" "$(cat $name/*/*)" mine
    done
fi
# Links: the one to nowhere is found before the work, and of one to a file the link is replaced.
ln -s nowhere dangling
echo mine >target
for name in csv sqlite; do
    on sqlite || [ $name = csv ] || continue
    status 1 "$RINGSCOPE" export --format $name run -o dangling
    saying "exists already"
    ln -sf target link
    status 0 "$RINGSCOPE" export --format $name --force run -o link
    is "$name: what a link leads to" "$(cat target)$(readlink link)" mine
done
on sqlite && status 1 "$RINGSCOPE" export --format sqlite run -o packed.sqlite.gz && saying "cannot be packed"
# What is read is not replaced, under whichever name: neither a recording, nor a folder of cuts, nor a folder above.
cp -r run keep
ln keep/node00.20000.rsc other-name.rsc
"$RINGSCOPE" export --format rsc run -o above/cut 2>/dev/null || mkdir above
"$RINGSCOPE" export --format rsc run -o above/cut 2>/dev/null
status 1 "$RINGSCOPE" export --format rsc --force keep -o keep
saying "would be lost"
status 1 "$RINGSCOPE" export --format csv --force keep -o other-name.rsc
saying "would be lost"
for name in above/cut above/../above/cut/ above; do
    status 1 "$RINGSCOPE" export --format rsc --force above/cut -o $name
    saying "would be lost"
done
is "recordings after that" "$(cat keep/*.rsc | cksum)" "$(cat run/*.rsc | cksum)"
status 1 "$RINGSCOPE" export --format rsc --force "$data/h200-mix" -o keep # recordings of a job, not cuts
saying "name another folder"
# Two at once: one of them is told that the other was there before.
"$RINGSCOPE" export --format csv --table events run -o both 2>err1 &
"$RINGSCOPE" export --format csv --table events run -o both 2>err2
one=$?
wait $!
is "two at once" "$((one + $?)) $(cat err1 err2 | grep -c 'exists already')" "1 1"
is "left behind" "$(tmps)" 0

# ---- pipes ----
for f in chrome perfetto csv jsonl; do
    # shellcheck disable=SC2016 # the inner shell expands
    status 1 bash -c '"$0" export --format "$1" run >/dev/full' "$RINGSCOPE" $f
    saying "No space left"
    # shellcheck disable=SC2016
    timeout 300 bash -c '"$0" export $1 "$2" 2>err; echo $? >rc' "$RINGSCOPE" "$(all_of $f)" "$data/h200-ddp" | head -c 10 >/dev/null
    is "$f: a closed pipe" "$(cat rc err)" 1
done
# shellcheck disable=SC2016
status 1 bash -c 'mkfifo p; head -c 0 p & "$0" export "$1" --format csv --table events -o p; rc=$?; wait; exit $rc' "$RINGSCOPE" "$data/h200-ddp"

# ---- files that may not grow, and disks without room: also where only the last block has none ----
for f in "${formats[@]}"; do
    name=${f% *}
    # shellcheck disable=SC2016
    status 1 bash -c 'ulimit -f 2; "$0" export $2 run -o "small.$1"' "$RINGSCOPE" "$name" "$(all_of "$name")"
    [ -s err ] || say "$name: no word about a file that may not grow"
    [ -e "small.$name" ] && say "$name: a short file is called done"
    is "$name: left behind" "$(tmps)" 0
done
if [ "$(id -u)" = 0 ] && unshare -m mount -t tmpfs none "$TMP" 2>/dev/null; then
    for f in "${formats[@]}"; do
        name=${f% *}
        kib=$(du -sk --apparent-size "empty.$name" | cut -f 1)
        # shellcheck disable=SC2016
        unshare -m bash -c 'mkdir -p full && mount -t tmpfs -o "size=$((($2 + 3) / 4 * 4 - 4))k" none full || exit 77
            "$0" export --format $1 run -o full/out 2>err
            echo $? >rc
            find full -mindepth 1 >left' "$RINGSCOPE" "${name/csv/csv --table events}" "$((kib < 8 ? 8 : kib))"
        [ $? = 77 ] && continue
        is "$name: exit status on a full disk" "$(cat rc)" 1
        is "$name: left on a full disk" "$(cat left)" ""
        [ -s err ] || say "$name: no word about a full disk"
        grep -F '/.out' err && say "$name: names what the user cannot know"
    done
    if setpriv --reuid 65534 --regid 65534 --clear-groups test -r run 2>/dev/null; then
        mkdir -p locked && chmod 755 . run locked
        status 1 setpriv --reuid 65534 --regid 65534 --clear-groups "$RINGSCOPE" export run -o locked/x.csv
        saying "cannot create"
    fi
fi

# ---- ended while it writes: nothing under the name that was asked for; what can be is tidied up ----
"$RINGSCOPE" gen --callbacks 600k --ranks 8 --no-truth -o large >/dev/null 2>&1 || say "gen"
export_large() { # FORMAT OUTPUT
    # shellcheck disable=SC2046 # words
    exec "$RINGSCOPE" export $(all_of "$1") large -o "$2"
}
is_whole() { # OUTPUT FORMAT: it has the files and sizes of one that nobody disturbed (bytes may differ: OTF2 has a number of its own)
    [ -e "$1" ] || return 1
    (export_large "$2" "whole.$2") 2>err
    [ "$(find "$1" -type f -printf '%P %s\n' | sort)" = "$(find "whole.$2" -type f -printf '%P %s\n' | sort)" ]
    local same=$?
    rm -rf "whole.$2"
    return $same
}
end_it() { # SIGNAL FORMAT
    local pid status temporary
    for _ in $(seq 50); do # as often as it is over, or done but for its exit, before the signal comes
        rm -rf "$1.$2"
        export_large "$2" "$1.$2" 2>err &
        pid=$!
        while kill -0 $pid 2>/dev/null; do
            temporary=(".$1".*)
            [ ! -s "${temporary[0]}" ] || break
            sleep 0.005
        done
        kill -"$1" $pid 2>/dev/null
        wait $pid 2>/dev/null
        status=$?
        [ $status = 0 ] || is_whole "$1.$2" "$2" || break
    done
    is "$2: ended by" $status $((128 + $(kill -l "$1")))
    [ -e "$1.$2" ] && say "$2: ended, and a file is called done"
}
for f in "${formats[@]}"; do
    end_it TERM "${f% *}"
    is "${f% *}: left behind" "$(find . -name '.TERM*')" ""
done
end_it KILL csv
status 0 "$RINGSCOPE" export --format csv run -o KILL.csv # what was left is not in the way
exit $bad
