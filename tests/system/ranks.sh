#!/bin/bash
# long
# How many ranks there are, and what they are called: the same in every command, whatever the inputs.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data

say() { "$RINGSCOPE" "$@" 2>"$TMP/err"; }

# The numbers of the ranks, "?" where one is not known, sorted: "0 1 2 3".
sorted() { sort -n | paste -sd ' '; }

# all_agree WHAT RANKS IN...: every command finds these ranks.
all_agree() {
    local what=$1 ranks=$2 n unknown=
    shift 2
    n=$(wc -w <<<"$ranks")
    is "$what: info" "$(say info --json "$@" | jq .ranks)" "$n"
    is "$what: info, first line" "$(say info "$@" | head -n 1 | grep -o '[0-9]* rank' | head -n 1)" "$n rank"
    say report --json "$@" >"$TMP/report"
    is "$what: report" "$(jq .ranks "$TMP/report")" "$n"
    is "$what: report, below the conclusion" "$(say report "$@" | sed -n "/^$/ { n; p; q; }" | grep -o '^[0-9]* rank')" "$n rank"
    is "$what: report --table" "$(say report --table nccl-tests "$@" | sed -n 's/^#  Rank *\([0-9?]*\) Group.*/\1/p' | sorted)" "$ranks"
    # Lateness has a row for each rank that could be compared; none that is not a rank.
    is "$what: lateness" "$(jq -r --arg all "$ranks" '[.lateness[] | select(.scope == "rank") | .rank // "?" | tostring] - ($all | split(" ")) | length' \
        "$TMP/report")" 0
    is "$what: ops --at" "$(say ops --at 0ns --json "$@" | jq -r '.global_rank // "?"' | sorted)" "$ranks"
    is "$what: overlap" "$(say overlap --json "$@" | jq -r 'select(has("span_ns")) | .rank // "?"' | sorted)" "$ranks"
    is "$what: critical" "$(say critical --json "$@" | jq --argjson n "$n" 'if .window_ns > 0 then .ranks + .ranks_left_out else $n end')" "$n"
    is "$what: sql" "$(say sql --csv "$@" 'SELECT coalesce(rank, "?") FROM ranks' | tail -n +2 | sorted)" "$ranks"
    # Each of the others numbers ranks of communicators or of GPUs: all numbers that are known, and no other.
    for n in $ranks; do [ "$n" = '?' ] || unknown+=" $n"; done
    is "$what: clocks" "$(say clocks --json "$@" | jq -r '.ranks[]?' | sort -nu | paste -sd ' ')" "${unknown# }"
    is "$what: comms" "$(say comms --json "$@" | jq -r '.members[].global_rank // empty' | sort -nu | paste -sd ' ')" "${unknown# }"
}

# Under a sanitizer, of inputs that are read by the same code one is enough.
if [ -n "${SAN:-}" ]; then
    all_agree ring "0 1 2 3" "$data/example/ring4"
    all_agree nsys "?" "$data/nsys"
    all_agree merged "0 1 2 3" "$data"/h200-overlay/{rec,kineto,flight}
    exit $bad
fi

all_agree mix "0 1 2 3" "$data/h200-mix"
all_agree ddp "0 1 2 3" "$data/h200-ddp"
all_agree threads "0 1 2 3" "$data/sim-threads"
all_agree "one thread" "0 1 2 3" "$data/sim-one-thread"
all_agree kineto "0 1 2 3" "$data"/kineto/*.gz
all_agree flight "0 1 2 3" "$data/flight/ddp4"
all_agree example "0 1 2 3" "$data/example/ddp4"
all_agree "one process" "0 1 2 3" "$data/example/oneprocess4"
all_agree ring "0 1 2 3" "$data/example/ring4"
all_agree nsys "?" "$data/nsys"
all_agree "three dimensions" "0 1 2 3 4 5 6 7" "$data/h200-tp2pp2dp2/rec"
all_agree "three dimensions: kineto" "0 1 2 3 4 5 6 7" "$data/h200-tp2pp2dp2/kineto"
all_agree "three dimensions: merged" "0 1 2 3 4 5 6 7" "$data"/h200-tp2pp2dp2/{rec,kineto,flight}
all_agree merged "0 1 2 3" "$data"/h200-overlay/{rec,kineto,flight}
all_agree "recording and dumps" "0 1 2 3" "$data"/h200-overlay/{rec,flight}
all_agree "kineto and dumps" "0 1 2 3" "$data"/h200-overlay/{kineto,flight}

# Dumps of groups of one rank hold nothing, not even a pid: they are nobody new, and take nobody's number away.
mkdir "$TMP/alone" && cp "$data"/example/ddp4/* "$TMP/alone"
for i in 1 2 3 4; do printf '[\n{}]\n' >"$TMP/alone/exdump_900000000000000000${i}_0.json"; done
all_agree "groups of one rank" "0 1 2 3" "$TMP/alone"

# A recording and its copy.
mkdir "$TMP/copy" && cp "$data"/h200-mix/vm.721.rsc "$TMP/copy/again.rsc"
is "a copy: report" "$(say report --json "$data/h200-mix" "$TMP/copy" | jq .ranks)" 4

# Not all recorded: who is there keeps the number, and all say how many are not.
for i in 722 724; do ln -s "$(realpath "$data/h200-mix/vm.$i.rsc")" "$TMP"; done
all_agree "two of four" "1 3" "$TMP"/vm.*.rsc
is "two of four: report" "$(say report "$TMP"/vm.*.rsc | sed -n "/^$/ { n; p; q; }" | grep -o '^.*recording)')" "2 ranks on 1 host (2 more without a recording)"
is "two of four: comms" "$(say comms "$TMP"/vm.*.rsc | head -n 1)" "4 communicators, a job of 4 ranks, 2 of them recorded"
is "two of four: world" "$(say info --json "$TMP"/vm.*.rsc | jq .world_size)" 4

# Jobs of any shape, whose ranks gen knows: without a communicator of all, several ranks in a process, other clocks.
gen() { "$RINGSCOPE" gen --force -o "$TMP/gen" "$@" >/dev/null || bad=1; }
gen -w tpdp --ranks 8 --steps 3 --no-world
all_agree "no world" "0 1 2 3 4 5 6 7" "$TMP/gen"
gen -w pipeline --ranks 8 --hosts 2 --devices-per-process 4 --steps 3
all_agree "devices of a process" "0 1 2 3 4 5 6 7" "$TMP/gen"
gen -w ddp --ranks 4 --steps 3 --as example
all_agree "gen: dumps" "0 1 2 3" "$TMP/gen"
exit $bad
