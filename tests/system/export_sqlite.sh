#!/bin/bash
# An exported database, read by the sqlite3 program: every number in it is that of ops, comms, clocks, report and info.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data
work=$TMP
command -v sqlite3 >/dev/null || {
    echo "no sqlite3 program"
    exit 77
}
"$RINGSCOPE" --version | grep -q 'sqlite *on' || {
    echo "built without SQLite"
    exit 77
}

ask() { sqlite3 -batch "$db" "$@"; }
# Lines of JSON as rows of a table: SQLite reads numbers of 64 bits as they are.
lines() { # TABLE FILE
    ask "DROP TABLE IF EXISTS $1" "CREATE TABLE $1 (line TEXT)" ".mode ascii" ".separator \"\\037\" \"\\n\"" ".import $2 $1"
}
# Rows that are in one of two queries and not in the other.
same() { # WHAT QUERY QUERY
    is "$1: rows" "$(ask "SELECT count(*) FROM ($2)")" "$(ask "SELECT count(*) FROM ($3)")"
    is "$1: only in the database" "$(ask "SELECT * FROM ($2) EXCEPT SELECT * FROM ($3)" | head -3)" ""
    is "$1: only in the JSON" "$(ask "SELECT * FROM ($3) EXCEPT SELECT * FROM ($2)" | head -3)" ""
}
# "a b" -> "line ->> 'a' AS a, ..."
json_columns() {
    local c list=""
    for c in "$@"; do list+=", $line ->> '$c' AS \"$c\""; done
    echo "${list#, }"
}
own_columns() {
    local c list=""
    for c in "$@"; do list+=", \"$c\""; done
    echo "${list#, }"
}

of_op=(op func kind seq replay root count bytes dtype algo proto nranks comms_id pg_seq step scope confidence start_ns
    end_ns transfer_ns wait_source last_rank tie complete error_ns mismatch violation unreported double unknown src dst)
of_rank=(rank global_rank launch enqueued_ns launched_ns start_ns start_source end_ns end_source end_after_ns
    end_before_ns duration_ns wait_ns clock_error_ns channels)
of_comm=(comm name nranks nnodes created_ns created_source destroyed_ns destroyed_source class incarnation pg_name
    pg_desc comm_source recorded)
of_clock=(host pid device offset_ns error_ns gpu_offset_ns gpu_error_ns method uuid ring_overruns stale_timers timers
    host_method island fitted spread_ns pieces)
of_process=(host pid path nccl_version state callbacks lost overwritten damaged clock_error_ns)
of_straggler=(scope rank host pid device uuid times_last operations cost_ns cost_once_ns inherited_ns gpu_time_lost_ns
    why matters)

compare() { # NAME INPUTS...
    local name=$1
    shift
    db=$work/$name.sqlite
    "$RINGSCOPE" export --format sqlite --level all "$@" -o "$db" 2>"$work/err" || {
        echo "$name: export failed: $(cat "$work/err")"
        bad=1
        return
    }
    for what in ops comms clocks; do "$RINGSCOPE" $what --json "$@" >"$work/$what" 2>/dev/null; done
    "$RINGSCOPE" report --json "$@" >"$work/report" 2>/dev/null
    is "$name: check" "$(ask "PRAGMA integrity_check" "PRAGMA foreign_key_check")" ok
    is "$name: children of an event, events of a window: by index" "$(for by in 'parent_id = 7' 'start_ns BETWEEN 1 AND 2'; do
        ask "EXPLAIN QUERY PLAN SELECT * FROM events WHERE $by"; done | sed -n 's/.*USING INDEX \([a-z_]*\) .*/\1/p' | paste -sd' ')" \
        "events_by_parent events_by_start"
    "$RINGSCOPE" info --json "$@" >"$work/info" 2>/dev/null
    for what in ops comms clocks report info; do lines j_$what "$work/$what"; done

    line=line
    same "$name: operations" "SELECT $(own_columns "${of_op[@]}"), round(algbw_gbs, 9), round(busbw_gbs, 9), missing, not_recorded,
        seen_by, pair_index, comm, (SELECT op FROM operations f WHERE f.id = x.fanout_id) FROM (SELECT o.*, comm
        FROM operations o JOIN communicators c ON c.id = communicator_id) x" \
        "SELECT $(json_columns "${of_op[@]}"), round(line ->> 'algbw_gbs', 9), round(line ->> 'busbw_gbs', 9),
        line -> 'missing', line -> 'not_recorded', line -> 'seen_by', line ->> 'index', line ->> 'comm', line ->> 'fanout' FROM j_ops"
    line=r.value
    same "$name: ranks of operations" "SELECT op, $(own_columns "${of_rank[@]}"), host, pid, device, end_early, stale_timer, open
        FROM (SELECT o.op, p.*, q.host, q.pid, m.device FROM operation_ranks p JOIN operations o ON o.id = operation_id
        JOIN processes q ON q.id = p.process_id JOIN members m ON m.id = member_id)" \
        "SELECT line ->> 'op', $(json_columns "${of_rank[@]}"), r.value ->> 'host', r.value ->> 'pid', r.value ->> 'device',
        coalesce(r.value ->> 'end_early', 0), coalesce(r.value ->> 'stale_timer', 0), coalesce(r.value ->> 'open', 0)
        FROM j_ops, json_each(line, '\$.ranks') r"
    line=line
    same "$name: communicators" "SELECT $(own_columns "${of_comm[@]}"), seen_by, parent, parent_count, parent_color FROM
        (SELECT c.*, p.comm AS parent FROM communicators c LEFT JOIN communicators p ON p.id = c.parent_id)" \
        "SELECT $(json_columns "${of_comm[@]}"), line -> 'seen_by', line ->> '\$.parent.comm', line ->> '\$.parent.count',
        line ->> '\$.parent.color' FROM j_comms"
    line=m.value
    same "$name: members" "SELECT comm, m.rank, m.global_rank, p.host, p.pid, m.device, r.rank, m.created_ns, m.destroyed_ns
        FROM members m JOIN communicators c ON c.id = communicator_id JOIN processes p ON p.id = m.process_id
        JOIN ranks r ON r.id = m.rank_id" \
        "SELECT line ->> 'comm', $(json_columns rank global_rank host pid device), m.value ->> 'global_rank', m.value ->> 'created_ns',
        m.value ->> 'destroyed_ns' FROM j_comms, json_each(line, '\$.members') m"
    line=line
    same "$name: clocks" "SELECT $(own_columns "${of_clock[@]}"), ranks, hull_low_ns, hull_high_ns, read_late_p99_ns, round(drift_ppm, 9),
        round(gpu_drift_ppm, 9) FROM clocks" \
        "SELECT $(json_columns "${of_clock[@]}"), line -> 'ranks', line ->> '\$.hull_ns[0]', line ->> '\$.hull_ns[1]',
        line ->> '\$.read_late_ns.p99', round(line ->> 'drift_ppm', 9), round(line ->> 'gpu_drift_ppm', 9) FROM j_clocks"
    line=p.value
    same "$name: processes" "SELECT $(own_columns "${of_process[@]}") FROM processes" \
        "SELECT $(json_columns "${of_process[@]}") FROM j_info, json_each(line, '\$.process_list') p"
    is "$name: what only recordings tell" "$(ask "SELECT count(*) FROM processes WHERE tool != 'ringscope'
        AND coalesce(state, callbacks, lost, overwritten, damaged, clock_error_ns) IS NOT NULL")" 0
    line=s.value
    same "$name: stragglers" "SELECT $(own_columns "${of_straggler[@]}") FROM v_stragglers" \
        "SELECT $(json_columns "${of_straggler[@]}") FROM j_report, json_each(line, '\$.stragglers') s"
    # Events: lanes hold what they say, nothing overlaps, ends are not before starts, parents are there.
    is "$name: lanes that hold something else" "$(ask "SELECT count(*) FROM lanes l LEFT JOIN (SELECT lane_id, min(id) first, count(*) n
        FROM (SELECT id, lane_id FROM events UNION ALL SELECT id, lane_id FROM network_steps) GROUP BY lane_id) e ON e.lane_id = l.id
        WHERE e.n IS NOT l.n OR e.first != l.first_id")" 0
    is "$name: overlaps" "$(ask "SELECT count(*) FROM (SELECT coalesce(start_ns, near_ns) AS start, lag(coalesce(end_ns, end_after_ns))
        OVER (PARTITION BY lane_id ORDER BY id) AS before FROM events) WHERE start < before")" 0
    is "$name: ends before starts" "$(ask "SELECT count(*) FROM v_timeline WHERE end_ns < at_ns")" 0
    is "$name: parents that are not there" "$(ask "SELECT count(*) FROM v_timeline WHERE parent_id IS NOT NULL
        AND parent_id NOT IN (SELECT id FROM events UNION SELECT id FROM network_steps)")" 0
}

compare mix "$data/h200-mix"
same "mix: events as info counts them" "SELECT kind, count(*) FROM (SELECT CASE WHEN kind LIKE 'Proxy%' THEN substr(kind, 1, instr(kind, ' ') - 1)
    ELSE kind END AS kind FROM v_timeline WHERE kind IN ('Group', 'KernelCh', 'GroupApi', 'CollApi', 'P2pApi', 'KernelLaunch')
    OR kind LIKE 'ProxyOp%' OR kind LIKE 'ProxyStep%') GROUP BY 1" \
    "SELECT key, value FROM json_each('$("$RINGSCOPE" info --json "$data/h200-mix" | jq -c '.events | del(.Coll, .P2p, .ProxyCtrl)')')"
same "mix: the matrix" "SELECT rank, peer, coalesce(bytes, 0), coalesce(received_bytes, 0) FROM v_network" \
    "SELECT n.value ->> 'rank', n.value ->> 'peer', n.value ->> 'bytes', n.value ->> 'received_bytes' FROM j_report, json_each(line, '\$.network') n"
is "mix: waiting on the network adds up" "$(ask "SELECT count(*) FROM v_network v, j_report, json_each(line, '\$.network') n
    WHERE v.rank = n.value ->> 'rank' AND v.peer = n.value ->> 'peer'
    AND abs(v.net_ns + v.credit_ns + v.gpu_ns - (n.value ->> 'net_ns') - (n.value ->> 'credit_ns') - (n.value ->> 'gpu_ns'))
        > 0.02 * v.net_ns")" 0
"$RINGSCOPE" report --by comm --json "$data/h200-mix" 2>/dev/null >"$work/by"
lines j_by "$work/by"
same "mix: bandwidth" "SELECT comm, func, calls, round(algbw_gbs, 9), round(busbw_gbs, 9) FROM v_bandwidth WHERE func != 'SendRecv'" \
    "SELECT f.value ->> 'comm', f.value ->> 'func', f.value ->> 'calls', round(f.value ->> 'algbw_gbs', 9), round(f.value ->> 'busbw_gbs', 9)
    FROM j_by, json_each(line, '\$.by_func') f WHERE f.value ->> 'func' != 'SendRecv'"
is "mix: comments stay" "$(ask "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'j_%' AND sql NOT LIKE '%-- %'")" 0
is "mix: waits are told by clocks" "$(ask "SELECT count(*) > 0 FROM v_waits WHERE wait_ns > 0 AND rank != last_global_rank")" 1

compare overlay "$data"/h200-overlay/*
is "overlay: kernels of the other tool have names" "$(ask "SELECT count(*) > 0 FROM v_activities WHERE name LIKE 'nccl%'")" 1
compare kineto "$data"/kineto/*.json*

# A rank that did not come and one without a recording, in the same operations: each is where it belongs.
"$RINGSCOPE" gen --ranks 4 --steps 6 --hang not-joined:2@5 --no-recording 1 --no-truth -o "$work/absent" >/dev/null || bad=1
compare absent "$work/absent"
is "absent: signs of life until the kill, 10 s later" "$(ask "SELECT min(to_ns - from_ns) > 9000000000 FROM processes")" 1
is "absent: missing and not recorded" "$(ask "SELECT DISTINCT missing, not_recorded FROM operations ORDER BY 1")" $'[2]|[1]\n[]|[1]'

"$RINGSCOPE" gen --ranks 4 --steps 40 --ring 2:20000 --drop 0.02 --no-truth -o "$work/lossy" >/dev/null || bad=1
compare lossy "$work/lossy"
is "lossy: overwritten and lost" "$(ask "SELECT max(overwritten) > 0, max(lost) > 0 FROM processes")" "1|1"

# Filters leave no id that leads nowhere.
"$RINGSCOPE" export --format sqlite --rank 1 --func AllReduce --func SendRecv "$data"/h200-overlay/* -o "$work/some.sqlite" 2>/dev/null
db=$work/some.sqlite
is "some: it is told what was asked for" "$(ask "SELECT value FROM meta WHERE key = 'filters'")" "--rank 1 --func AllReduce --func SendRecv"
is "some: check" "$(ask "PRAGMA foreign_key_check")" ""
is "some: operations" "$(ask "SELECT count(*) FROM operations")" \
    "$("$RINGSCOPE" ops --json --rank 1 --func AllReduce --func SendRecv "$data"/h200-overlay/* 2>/dev/null | wc -l)"

# What is there is not overwritten, and a failure leaves nothing.
"$RINGSCOPE" export --format sqlite "$data/h200-mix" -o "$work/mix.sqlite" 2>/dev/null
is "status for a file that exists" $? 1
ulimit -f 100
"$RINGSCOPE" export --format sqlite "$data/h200-mix" -o "$work/full.sqlite" 2>"$work/err"
is "status for a full disk" $? 1
is "what a full disk leaves" "$(find "$work" -name '*full*')" ""
grep -q full.sqlite "$work/err" || {
    echo "no message about the full disk: $(cat "$work/err")"
    bad=1
}
exit $bad
