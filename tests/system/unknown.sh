#!/bin/bash
# What the inputs do not tell is said to be unknown, by every command: real dumps without ends and starts, traces that say
# nothing of what still ran, recordings that begin late, a job that hangs. Each line below was once said with a number.
# sanitizers: address
# shellcheck disable=SC2016 # the variables are jq's
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(cd "$(dirname "$0")/../data" && pwd)
cd "${TMP:?}" || exit 1
ring=$data/example/ring4 one=$data/example/oneprocess4
rs() { "$RINGSCOPE" "$@" 2>/dev/null; }
says() { # WHAT PATTERN COMMAND...
    local what=$1 pattern=$2
    shift 2
    rs "$@" >out
    grep -Eq -- "$pattern" out || { echo "$what: nothing like '$pattern' in:"; head -n 12 out; bad=1; }
}
never() { # WHAT PATTERN COMMAND...
    local what=$1 pattern=$2
    shift 2
    rs "$@" >out
    grep -E -- "$pattern" out >found && { echo "$what: $(head -n 1 found)"; bad=1; }
}
status() { # WANTED COMMAND...
    local want=$1
    shift
    rs "$@" >/dev/null
    is "exit status of $*" $? "$want"
}
"$RINGSCOPE" gen --ranks 4 --steps 20 --late 3@10 -o late >/dev/null 2>&1 || bad=1
"$RINGSCOPE" gen --ranks 4 --hosts 2 --steps 10 --hang not-joined:1@8 -o hung >/dev/null 2>&1 || bad=1

# ---- hang: whether something still ran is not in these files ----
for input in kineto inspector nsys comma nvprof nccl_tests ncclsee; do
    status 1 hang "$data/$input"
    is "hang $input" "$(rs hang --json "$data/$input" | jq -r .verdict)" UNKNOWN
    says "hang $input" '^UNKNOWN: ' hang "$data/$input"
done
status 0 hang "$data/h200-mix"
is "hang of a job that closed" "$(rs hang --json "$data/h200-mix" | jq -r .verdict)" NONE
status 3 hang hung

# ---- ops --at ----
at() { rs ops --at "$1" --json "$2" | jq -c '[.global_rank, .doing]' | tr '\n' ' '; }
# Flight Recorder tells calls, not when they ran; it knows no pid.
is "at: Flight Recorder" "$(at 1ms "$data/flight")" '[0,"unknown"] [1,"unknown"] '
never "at: Flight Recorder" ' 0  +\? ' ops --at 1ms "$data/flight"
# Rank 3 is recorded from step 10 on. Before that it may have done anything; the others are idle, or in what has one
# rank less: whether they wait or transfer is not known.
begin=$(rs ops --json late | jq -s 'map(.start_ns // empty) | min')
middle=$(rs ops --json late | jq -s "map(select(.start_ns == $begin))[0].ranks | ((map(.start_ns) | max) + (map(.end_ns) | min)) / 2 | floor")
is "at: before a late recording" "$(at "$middle" late)" '[0,"running"] [1,"running"] [2,"running"] [3,"unknown"] '
is "at: the same, why" "$(rs ops --at "$middle" --json late | jq -r 'select(.global_rank == 3) | .why')" "events were not requested then"
# A ring of sends whose ends are bounded: nobody knows who was still in it, nor for how long.
first=$(rs ops "$ring" | awk '$1 ~ /^[0-9]/ { print $1 + 0; exit }') # s from the begin of the run
after() { awk -v s="$first" -v more="$1" 'BEGIN { printf "%.6fs", s + more }'; }
is "at: ends that are bounded" "$(rs ops --at "$(after 0.001)" --json "$ring" | jq -c 'select(.op) | [.doing, .until_ns, .until_before_ns > 0, .clock_error_ns > 0]' | sort -u)" \
    '["unknown",null,true,true]'
never "at: ends that are bounded" 'transferring|nothing in NCCL|waiting' ops --at "$(after 0.001)" "$ring"
says "at: an end before which it was" 'ended at least' ops --at "$(after 0.2)" "$ring"
# A hang: those that are in it wait for rank 1, which never came, until their recordings end.
last=$(rs ops --json hung | jq -s 'map(select(.missing != [])) | map(.ranks[].start_ns // empty) | max')
is "at: a hang" "$(at $((last + 2000000000)) hung)" '[0,"waiting"] [1,"nothing in NCCL"] [2,"waiting"] [3,"waiting"] '
is "at: behind the recordings" "$(at $((last + 100000000000)) hung)" '[0,"unknown"] [1,"unknown"] [2,"unknown"] [3,"unknown"] '
is "at: with a filter" "$(rs ops --at 1ms --from 0s --to 1ns --json late | jq -r .doing | sort -u | head -n 1)" "nothing that passes the filters"

# ---- ops: a call is no start; a split below the clock error is none; who was last of those that came is not the last ----
is "ops: marked as calls" "$(rs ops "$one" | grep -c '^ *called [0-9.]*s ')" "$(rs ops --json "$one" | jq -s 'map(select(.start_ns == null)) | length')"
[ "$(rs ops "$one" | grep -c '^ *called ')" -gt 0 ] || { echo "ops: no calls to mark"; bad=1; }
is "ops: transfers below the clock error" "$(rs ops --json "$one" | jq -s 'map(select(.transfer_ns != null and .transfer_ns < 2 * .error_ns)) | length')" 0
is "ops: bandwidths without a transfer" "$(rs ops --json "$one" | jq -s 'map(select(.transfer_ns == null and (.busbw_gbs != null or .algbw_gbs != null))) | length')" 0
split=$(rs ops --json "$one" | jq -s 'map(select(.complete and .wait_source == "clocks" and .transfer_ns == null)) | length')
[ "$split" -gt 0 ] || { echo "ops: no transfer is below the clock error"; bad=1; }
is "ops: transfers below the clock error, in the table" "$(rs ops "$one" | grep -cE ' +<[0-9.]+ us +\? +[a-z0-9]+ *$')" "$split"
is "ops: waits where a rank did not come" "$(rs ops --json hung | jq -s -c 'map(select(.missing != []) | .ranks[].wait_ns) | unique')" '[null]'
never "ops: the last where one did not come" '3/4 .* [0-9.]+ [mu]s' ops hung
error=$(rs ops --json "$one" | jq -s 'map(.error_ns // 0) | max')
is "report: transfers below the clock error" "$(rs report --json "$one" | jq -c "[.by_func[] | select(.transfer_ns != null and .transfer_ns < 2 * $error)]")" '[]'

# ---- report: ranks wait although nobody alone is last; waits that are told without clocks ----
if [ "$(rs ops --json "$ring" | jq 'select(.kind == "fanout").tie')" = true ]; then
    says "report: a tie is no proof that nobody waited" '1 operation without steps that repeat: too few to tell' report "$ring"
fi
never "report: no rank is late" 'No rank is late' report "$ring"
says "report: waits by durations" 'the waits of 440 operations come from durations' report "$data/inspector"
never "report: waits by durations" 'waited for which is unknown' report "$data/inspector"

# ---- critical: an end that is not known is no end of a path ----
status 1 critical "$ring"
says "critical: no end" 'ends of the operations .* unknown.*no path' critical "$ring"
is "critical: no end" "$(rs critical --json "$ring" | jq -c '[.from_ns, .to_ns, .segments]')" '[null,null,[]]'
is "critical: the last known end" "$(rs critical --json "$one" | jq .to_ns)" "$(rs ops --json "$one" | jq -s 'map(.ranks[].end_ns // 0) | max')"
says "critical: what is left out" 'after it, 10 times a rank began an operation whose end is unknown' critical "$one"
status 1 critical "$data/flight"
printf '{"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents": [' >kernels.json
for i in $(seq 50); do
    printf '{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":%d,"dur":5,"args":{"device":0,"stream":7,"correlation":%d}},\n' $((10 * i)) "$i"
done >>kernels.json
echo '{}]}' >>kernels.json
says "critical: kernels without NCCL" '^critical path of 495 us over 1 rank' critical kernels.json
status 0 critical kernels.json

# ---- view, page and pictures ----
never "view: the job ended well" 'not ended' view "$one"
says "view: a hang" 'waits for another rank.*not ended' view hung
rs view hung -o hung.svg
grep -q 'all of it waiting: another rank did not arrive' hung.svg || { echo "a picture of a hang: nobody waits to the end"; bad=1; }

# ---- exports: what is bounded is drawn to its bound, so that it is seen, and says so ----
rs export --format chrome "$ring" >ring.json
is "chrome: operations without a length" "$(jq '[.traceEvents[] | select(.cat == "operations" and .dur == 0)] | length' ring.json)" 0
is "chrome: to their bound" "$(jq -c '[.traceEvents[] | select(.cat == "operations") | [.args.end_bounded, .args.shortest_ns, (.dur * 1000 | round) == .args.longest_ns]] | unique' ring.json)" '[[true,0,true]]'

# ---- other tools do not tell how their processes and communicators ended, nor until when a dump was waited for ----
for of in inspector comma flight/ddp4 nvprof nsys kineto "example/ring4"; do
    never "$of: recordings that were not closed" 'did not close' report "$data/$of"
    never "$of: communicators that live on" 'to the end' comms "$data/$of"
done
says "recordings that were not closed" 'did not enter|did not join|`ringscope hang` shows the evidence' report hung
says "communicators that live on" 'to the end' comms hung
for of in hang-not-joined hang-stalled hang-wrapped hang-send hang-real/notjoined; do
    never "$of: for how long" ', for [0-9]' hang "$data/flight/$of"
    is "$of: for how long, in the table" "$(rs hang "$data/flight/$of" | sed -n '/^rank .* for /,/^$/p' | sed 's/   */\t/g; s/^\t//' | awk -F '\t' 'NR > 1 && NF { print $6 }' | sort -u)" "-"
done
says "for how long" ', for [0-9.]+ s' hang hung

# ---- damage: where a rank is absent because of it, it was not recorded; nothing else is in doubt ----
rs gen --ranks 4 --steps 200 --events ops --no-truth -o damaged >/dev/null
file=$(find damaged -name '*.rsc' | sort | sed -n 2p) gaps=0
cp "$file" whole
mapfile -t chunks < <(grep -obUaP 'RSCK' whole | cut -d: -f1)
for at in "${chunks[@]}"; do
    cp whole "$file"
    dd if=/dev/zero of="$file" bs=1 seek="$at" count=64 conv=notrunc status=none
    found=$(rs ops --json damaged | jq -c '[.missing, .not_recorded, (.ranks | map(.rank))]' | sort | uniq -c)
    is "damage at $at: who is absent" "$(grep -vF -e '[[],[],[0,1,2,3]]' -e '[[],[1],[0,2,3]]' <<<"$found")" ""
    is "damage at $at: operations" "$(awk '{ n += $1 } END { print n }' <<<"$found")" 800
    [ "$(wc -l <<<"$found")" = 1 ] || gaps=$((gaps + 1))
done
[ $gaps -ge 2 ] || { echo "damage: only $gaps of ${#chunks[@]} chunks hold some of the operations"; bad=1; }

# ---- explain ----
says "explain hidden" 'in ns; in' explain hidden
exit $bad
