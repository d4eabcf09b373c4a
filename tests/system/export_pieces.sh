#!/bin/bash
# Exporters take a process in pieces, so that memory does not grow with it (src/timeline/pieces.h): whatever the pieces, the
# tables of SQLite and the slices, arrows and counters of Chrome are those of the process as a whole, and on no lane
# anything overlaps. Where a piece was closed too early, that is told, and counted right.
# shellcheck disable=SC2016 # the variables are jq's
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
data=$root/tests/data
cd "$TMP" || exit 1
if ! command -v sqlite3 >/dev/null || ! "$RINGSCOPE" --version | grep -Eq "sqlite +on"; then
    echo "no SQLite"
    exit 77
fi
whole=4000000000 # events in a piece: more than any process here has

filter=()
export_as() { # EVENTS-IN-A-PIECE FORMAT INPUT OUTPUT
    RINGSCOPE_TEST_PIECE=$1 "$RINGSCOPE" export --format "$2" --level all "${filter[@]}" "$3" -o "$4" --force 2>err || is "$3, $2" "$(head -n 2 err)" exported
}

# All that lies on the timeline, with what it hangs on and what launched it, by what it is instead of by its id.
tables() { # DATABASE
    sqlite3 "$1" <<'END' | LC_ALL=C sort
CREATE TEMP VIEW places AS SELECT l.id AS lane, l.process_id || '|' || ifnull(l.rank_id, '') || '|' ||
    ifnull(l.communicator_id, '') || '|' || l.row || '|' || ifnull(l.label, '') AS place FROM lanes l;
CREATE TEMP TABLE named AS
    SELECT e.id AS id, json_array(place, kind, s.text, operation_id, start_ns, end_ns, near_ns, end_after_ns, end_before_ns,
        open, wait_ns, channel, peer, bytes, args) AS what, parent_id FROM events e JOIN places ON lane = lane_id
        LEFT JOIN strings s ON s.id = e.name_id
    UNION ALL SELECT n.id, json_array(place, operation_id, start_ns, end_ns, end_after_ns, is_send, channel, peer, step, steps,
        bytes, gpu_ns, credit_ns, net_ns), parent_id FROM network_steps n JOIN places ON lane = lane_id;
CREATE UNIQUE INDEX temp.named_by_id ON named (id);
SELECT a.what, ifnull(p.what, '') FROM named a LEFT JOIN named p ON p.id = a.parent_id;
SELECT 'launch', a.what, b.what FROM launches JOIN named a ON a.id = launch_id JOIN named b ON b.id = event_id;
END
}
overlaps() { # DATABASE
    sqlite3 "$1" "SELECT count(*) FROM (SELECT begin, lag(end) OVER (PARTITION BY lane_id ORDER BY id) AS before FROM
        (SELECT id, lane_id, coalesce(start_ns, near_ns) AS begin, coalesce(end_ns, end_after_ns) AS end FROM events UNION ALL
        SELECT id, lane_id, start_ns, coalesce(end_ns, end_after_ns) FROM network_steps)) WHERE begin < before"
}
# Slices by name, time and arguments; arrows as the times of what they join, in any order; counters.
slices() { # FILE
    jq -r '.traceEvents | (.[] | select(.ph == "X") | [.pid, .ts, .dur, .name, .cat, (.args | tojson)] | @tsv),
        ([.[] | select(.ph == "s" or .ph == "t" or .ph == "f")] | group_by(.id)[] | [.[0].cat, (map([.pid, .ts]) | sort | tojson)] | @tsv),
        (.[] | select(.ph == "C") | [.pid, .ts, .name, (.args | tojson)] | @tsv)' "$1" | LC_ALL=C sort
}

check() { # INPUT EVENTS-IN-A-PIECE...: other pieces, the same
    local input=$1 name events
    name=$(basename "$1")
    shift
    export_as $whole sqlite "$input" whole.db
    export_as $whole chrome "$input" whole.json
    tables whole.db >whole.tables
    slices whole.json >whole.slices
    is "$name: events" "$([ -s whole.tables ] && [ -s whole.slices ] && echo some)" some
    for events in "$@"; do
        export_as "$events" sqlite "$input" pieces.db
        is "$name, $events: told" "$(grep -c 'have no parent or launch' err)" 0
        export_as "$events" chrome "$input" pieces.json
        tables pieces.db >pieces.tables
        slices pieces.json >pieces.slices
        is "$name, $events: tables" "$(diff whole.tables pieces.tables | head -n 4)" ""
        is "$name, $events: slices" "$(diff whole.slices pieces.slices | head -n 4)" ""
        is "$name, $events: overlaps" "$(overlaps pieces.db)" 0
    done
}
ids_differ() { # the pieces were such: ids count by piece
    is "$1: in pieces" "$(sqlite3 pieces.db "ATTACH 'whole.db' AS w; SELECT count(*) > 0 FROM events a JOIN w.events b USING (id) WHERE a.start_ns IS NOT b.start_ns")" 1
}

check "$data/h200-ddp" 300
ids_differ h200-ddp
check "$data/h200-mix" 1
ids_differ h200-mix
filter=(--rank 1 --from 0.02s)
check "$data/h200-mix" 10
ids_differ "with filters"
filter=()
gen() { "$RINGSCOPE" gen -f --no-truth "$@" -o made >/dev/null 2>&1 || is "gen $*" failed made; }
gen -w mix -n 4 --hosts 2 --steps 12 # with graphs: the calls that were captured keep all of their process together
check made 20
gen -w tpdp -n 4 --hosts 2 --steps 8 --drop 0.05
check made 200
gen -w pipeline -n 4 --hosts 2 --steps 12 --hang stalled-net:1@9
check made 50
gen -w tpdp -n 4 --hosts 2 --steps 8 --api 4 # without calls: operations tell when they were asked for
check made 50
ids_differ "without calls"
gen -w ddp -n 4 --steps 6 --devices-per-process 2
check made 50
ids_differ "several ranks"
check "$data/sim-threads" 1

# One that is told much later than the pieces here are long.
gen -w ddp -n 8 --callbacks 60k --seed 2
export_as $whole sqlite made whole.db
export_as 1 sqlite made pieces.db
told=$(sed -n 's/^ringscope export: \([0-9]*\) events have no parent or launch.*/\1/p' err)
orphans() { sqlite3 "$1" "SELECT (SELECT count(*) FROM events WHERE parent_id IS NULL) + (SELECT count(*) FROM network_steps WHERE parent_id IS NULL) + (SELECT -count(*) FROM launches)"; }
is "late: some" "$((${told:-0} > 0))" 1
is "late: told" "${told:-0}" "$(($(orphans pieces.db) - $(orphans whole.db)))"
is "late: events" "$(sqlite3 pieces.db 'SELECT sum(n) FROM lanes')" "$(sqlite3 whole.db 'SELECT sum(n) FROM lanes')"
exit $bad
