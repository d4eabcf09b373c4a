#!/bin/bash
# What the reading commands are given: several things, the same thing twice, things that are no recordings.
# sanitizers: address
# shellcheck disable=SC2016 # inner shells expand by themselves
set -u
cd "${TMP:?}" || exit 1
bad=0
say() { echo "line ${BASH_LINENO[0]}: $*"; bad=1; }
# info WANTED ARGUMENT...: .processes and .callbacks, as a line; what is said on stderr goes to err.
info() {
    local want=$1 got
    shift
    got=$(timeout 300 "$RINGSCOPE" info --json "$@" 2>err | jq -c '[.processes, .callbacks]')
    [ "$got" = "$want" ] || say "info $*: '$got' instead of '$want'"
}
saying() { grep -qF -- "$1" err || say "'$1' is not said, but: $(cat err)"; }
status() { # WANTED COMMAND...
    local want=$1 got
    shift
    timeout 300 "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$want" ] || say "$*: exit status $got instead of $want"
}

"$RINGSCOPE" sim --steps 2 --speed 4 -o run --truth truth >/dev/null || say "sim failed"
sent=$(jq -s 'map(select(.kind == "process") | .callbacks) | add' truth)
first=$(find run -name '*.rsc' | sort | head -n 1)
info "[4,$sent]" run
info "[4,$sent]" run run "$first"
saying "the same recording as"
info "[4,$sent]" absent run
saying "absent: "
mkdir odd odd/folder.rsc
mkfifo odd/pipe.rsc
echo "no recording" >odd/text.rsc
: >odd/empty.rsc
ln -s nowhere odd/link.rsc
cp run/*.rsc odd/
info "[4,$sent]" odd
for name in folder pipe text empty; do saying "odd/$name.rsc"; done
info "[4,$sent]" run /dev/zero
status 1 "$RINGSCOPE" info absent
status 1 "$RINGSCOPE" info odd/text.rsc
saying "odd/text.rsc: not a ringscope recording"
mkdir none
status 1 "$RINGSCOPE" info none
saying "no recording (*.rsc) in this folder"
status 2 "$RINGSCOPE" info --run x run
status 2 "$RINGSCOPE" info --run -1 run
status 1 "$RINGSCOPE" info --run 5 run
status 2 "$RINGSCOPE" info

# What is exported is valid JSON, line by line; a full disk and a closed pipe are failures; nothing is overwritten.
status 0 "$RINGSCOPE" export --format jsonl run -o run.jsonl
[ "$(jq -c . run.jsonl | wc -l)" = "$sent" ] || say "export: $(wc -l <run.jsonl) lines instead of $sent"
in_order=$(jq -s 'group_by(.pid) | map(map(.time_ns) | . == sort) | all' run.jsonl)
[ "$in_order" = true ] || say "export: not in time order"
status 1 "$RINGSCOPE" export --format jsonl run -o run.jsonl
status 0 "$RINGSCOPE" export --format jsonl run -o run.jsonl --force
status 1 bash -c '"$0" export --format jsonl run >/dev/full' "$RINGSCOPE"
status 1 bash -c 'ulimit -f 8; "$0" export --format jsonl run -o small.jsonl' "$RINGSCOPE"
saying "small.jsonl"
if [ -n "$(find . -name 'small.jsonl*')" ]; then say "a file that could not be written is left"; fi
status 2 "$RINGSCOPE" export --to nothing run

# A process whose live file is not there: what it emitted is not known.
RINGSCOPE_BUFFERS=disk "$RINGSCOPE" sim --steps 6 --speed 4 --kill 1@3 --notice-seconds 0.2 -o killed >/dev/null || say "sim failed"
mkdir half && cp killed/*.rsc half/
[ "$("$RINGSCOPE" info --json killed | jq .emitted)" -gt 0 ] || say "killed: emitted is not known"
[ "$("$RINGSCOPE" info --json half 2>err | jq .emitted)" = null ] || say "half: emitted is known"
saying "were not found"
[ "$("$RINGSCOPE" info --json half 2>err | jq '[.inputs[].live_missing] | map(select(.)) | length')" = 1 ] ||
    say "half: live_missing"
# Of many it is said once.
RINGSCOPE_BUFFERS=disk "$RINGSCOPE" sim --steps 6 --speed 4 --hang 1@3 --notice-seconds 0.2 -o hung >/dev/null || say "sim failed"
mkdir lifeless && cp hung/*.rsc lifeless/
"$RINGSCOPE" hang lifeless >out 2>err
saying "processes did not close their recordings, and their buffers were not found"
[ "$(grep -c "were not found" err)" = 1 ] || say "lifeless: $(cat err)"
# What the recorder of a later job is copying is not an input.
cp "$(find hung -name '*.rsc' | head -n 1)" half/x.live.new
[ "$("$RINGSCOPE" info --json half 2>err | jq '.inputs | length')" = "$(find half -name '*.rsc' | wc -l)" ] || say "half: a .live.new is read"

# A ring that was not filled is sparse: what is on disk counts, and holes are not searched for chunks.
RINGSCOPE_LIMIT=1Gi RINGSCOPE_KEEP=last "$RINGSCOPE" sim -n 2 --steps 2 --speed 4 -o ring >/dev/null || say "sim failed"
if [ "$(stat -c '%b %s' ring/*.rsc | awk '$1 * 512 < $2 { n++ } END { print n + 0 }')" = 2 ]; then
    "$RINGSCOPE" info ring | grep -q '[0-9] KiB on disk' || say "ring: $("$RINGSCOPE" info ring | sed -n 2p)"
fi

# A control file of an earlier job does not silence this one.
mkdir later && echo events=off >later/control
"$RINGSCOPE" sim --steps 2 --speed 4 -o later >/dev/null || say "sim failed"
[ "$("$RINGSCOPE" info --json later | jq '.events.Coll > 0')" = true ] || say "later: silenced"
exit $bad
