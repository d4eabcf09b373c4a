#!/bin/bash
# Other tools' traces as they must not be: cut, twice, odd, hostile. No crash, nothing silent, JSON that can be read, no
# control characters on the terminal, and what is whole is used.
# sanitizers: address
set -u
data=$(cd "$(dirname "$0")/../data" && pwd)
cd "${TMP:?}" || exit 1
bad=0
say() { echo "line ${BASH_LINENO[1]}: $*"; bad=1; }
# rs WANTED COMMAND...: exit status; output in out, messages in err.
rs() {
    local want=$1 got
    shift
    timeout 300 "$RINGSCOPE" "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$want" ] || say "$*: exit status $got instead of $want: $(head -c 600 err)"
    ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' out err || say "$*: a control character on the terminal"
}
saying() { grep -qF -- "$1" err || say "'$1' is not said, but: $(head -c 600 err)"; }
is() { [ "$2" = "$3" ] || say "$1: $2, not $3"; }
# any FOLDER...: any status but a crash, of commands that go the whole way; JSON can be read.
any() {
    local command status
    for command in info ops report overlap; do
        timeout 300 "$RINGSCOPE" $command --json "$@" >out 2>err </dev/null
        status=$?
        case $status in
        0 | 3) jq . out >/dev/null 2>jq.err || say "$command $*: $(cat jq.err)" ;;
        1) [ -s err ] || say "$command $*: failed in silence" ;;
        *) say "$command $*: exit status $status: $(head -c 600 err)" ;;
        esac
    done
}

k=$data/kineto/formats
k0=$(find "$k" -name '*rank0.json' | head -n 1)
k1=${k0/rank0/rank1}
if [ ! -f "$k0" ] || [ ! -f "$k1" ]; then
    say "no Kineto samples"
    exit 1
fi
mkdir whole && cp "$k0" whole/k0.json && cp "$k1" whole/k1.json
chmod -R u+w whole
rs 0 ops --json whole
want=$(wc -l <out)

# The same trace plain, packed, as a copy, and named again: read once.
mkdir twice && cp whole/* twice/
gzip -k twice/k0.json
cp twice/k1.json "twice/k1 (copy).json"
ln -s k1.json twice/link.json
rs 0 ops --json twice twice/k0.json
is "operations of a trace given several times" "$(wc -l <out)" "$want"
saying "twice/k0.json.gz: the same trace as twice/k0.json; read once"
saying "the same trace as twice/k1 (copy).json; read once"
rs 0 info --json twice
is "files read once" "$(grep -c "; read once" err)" 3
example=$(find "$data/example/ring4" -name '*_0.json*' | head -n 1)
mkdir dump
case $example in
*.gz) gzip -dc "$example" ;;
*) cat "$example" ;;
esac >dump/dump_12715772615376301750_0.json
rs 0 ops --json dump
want=$(wc -l <out)
gzip -k dump/*.json
rs 0 ops --json dump
is "operations of a dump that is there packed, too" "$(wc -l <out)" "$want"
# Dumps tell their rank in their name alone: equal bytes under two names are two ranks.
mkdir equal && printf '[\n{}]\n' | tee equal/dump_7_0.json >equal/dump_7_1.json
timeout 300 "$RINGSCOPE" info equal >out 2>err
! grep -q "same trace" err || say "two ranks that wrote the same are taken for one"

# Beside what is good: nothing is lost in silence, each with its reason.
mkdir odd odd/folder.json && cp whole/* odd/
: >odd/k2.json
gzip -c whole/k0.json | head -c 12 >odd/k3.json.gz
ln -s loop odd/loop
echo '{"name":"x","dependencies":{"a":"b"}}' >odd/package.json
rs 0 info --json odd
is "files left out" "$(jq -c '[.processes, .files_left_out]' out)" '[2,1]'
saying "odd/k2.json: the file is empty"
saying "odd/k3.json.gz: at byte 12: "
saying "odd/loop: "
rs 1 ops odd/package.json
saying "odd/package.json: no trace that ringscope knows"
mkdir -p above/below && cp whole/* above/below/
rs 0 ops above
saying "above: reading the 1 folder in it"
rs 0 ops above above/below

# Cut at many places: what was whole is kept, and the place is said.
mkdir cut && cp whole/k1.json cut/
size=$(stat -c %s whole/k0.json)
for part in 1 3 5 7; do
    head -c $((size * part / 8)) whole/k0.json >cut/k0.json
    any cut
    saying "cut/k0.json: byte "
done
gzip -c whole/k0.json >cut/k0.json.gz && rm cut/k0.json && truncate -s 400 cut/k0.json.gz
any cut
saying "cut/k0.json.gz: at byte "
# Two gzip streams one behind the other are one file.
mkdir joined && cp whole/k1.json joined/
{ head -c 1500 whole/k0.json | gzip -c; tail -c +1501 whole/k0.json | gzip -c; } >joined/k0.json.gz
rs 0 info --json joined
is "concatenated gzip" "$(jq -c '[.inputs[].complete]' out)" '[true,true]'

# Numbers that are none, times before all time, ranks without end.
mkdir wild
i=0
for number in -1 1e308 -1e308 1e400 NaN -Infinity 18446744073709551616 -9223372036854775808 null '"x"' '[[[[]]]]'; do
    i=$((i + 1))
    cp whole/k1.json wild/
    for key in ts dur rank world_size 'Group size' 'In msg nelems' pid; do
        sed -E "s/(\"$key\": *)(\"?[0-9.]+\"?)/\\1$number/g" whole/k0.json >"wild/k0.json"
        [ $((i % 3)) = 1 ] || [ "$key" = ts ] || continue # the rest would only take time
        timeout 300 "$RINGSCOPE" ops --json wild >out 2>err </dev/null
        [ $? -le 1 ] || say "$key of $number: $(head -c 600 err)"
        jq . out >/dev/null 2>&1 || say "$key of $number: no JSON"
    done
done
sed -E 's/("rank": *)0/\12147483647/; s/("world_size": *)2/\12147483647/' whole/k0.json >wild/k0.json
any wild
for rank in 0 1; do
    sed -E 's/("(world_size|Group size|pg_size)": *)2/\11000000000/; s/("Process Group Ranks": *)"[^"]*"/\1"[0, 1, ..., 999999999]"/' \
        whole/k$rank.json >wild/k$rank.json
done
rs 0 ops --json wild
# Two traces of one rank: of two jobs, if their processes differ; else two windows of one.
mkdir jobs && cp whole/* jobs/
sed -E 's/("ts": *[0-9]+)/\15/; s/("pid": *)([1-9][0-9]*)/\19\2/' whole/k0.json >jobs/k0.later.json
rs 0 ops --json jobs
saying "are both of rank 0"
sed -E 's/("ts": *[0-9]+)/\15/' whole/k0.json >jobs/k0.later.json
rs 0 info --json jobs
[ "$(jq .processes out)" = 2 ] || say "two windows of a process: $(jq -c .processes out) processes"

# Deep nesting, and a string that never ends.
mkdir deep && cp whole/k1.json deep/
{ printf '{"traceEvents": [{"ph":"X","args":'; head -c 200000 /dev/zero | tr '\0' '['; } >deep/k0.json
any deep
{ printf '{"schemaVersion":1,"traceEvents":[{"ph":"X","name":"'; head -c 3000000 /dev/zero | tr '\0' 'n'; } >deep/k0.json
any deep
fr=$(find "$data/flight" -name '*.json' | sort | head -n 1)
mkdir deepfr && { head -c 100 "$fr"; head -c 100000 /dev/zero | tr '\0' '['; } >deepfr/fr_rank0.json
any deepfr

# Names of a trace do not reach the terminal raw; JSON has them as they are.
mkdir escape
for rank in 0 1; do
    # shellcheck disable=SC1003 # a backslash
    sed -E 's/"default_pg"/"red\\u001b[31m\\u0007\\nline\\u009b2J"/g' whole/k$rank.json >escape/k$rank.json
done
cp escape/k0.json "$(printf 'escape/\033[31m k2\n.json')"
for command in info ops report comms overlap explain; do rs 0 $command escape; done
rs 0 ops --json escape
grep -q 'u001b\[31m' out || say "JSON: the name is not as it was"
nvprof=$(find "$data/nvprof" -name '*.txt' | sort | head -n 1)
mkdir text && sed 's/AllReduce/All\x1b[31mReduce\x07/g' "$nvprof" >text/nvprof.txt
for command in info ops report explain; do rs 0 $command text; done

# Written by other systems: a mark at the beginning, other ends of lines.
mkdir dos
for rank in 0 1; do { printf '\xef\xbb\xbf'; sed 's/$/\r/' whole/k$rank.json; } >dos/k$rank.json; done
rs 0 info --json dos
is "with a byte order mark and CRLF" "$(jq -c '[.processes, [.inputs[].complete]]' out)" '[2,[true,true]]'
exit $bad
