#!/bin/bash
# `export --format csv`: what sqlite3 reads from the tables is what `ops --json` and `export --format jsonl` say; quotes and formulas.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data
work=$TMP
command -v sqlite3 >/dev/null || {
    echo "no sqlite3 program"
    exit 77
}
csv() { "$RINGSCOPE" export --format csv "$@" 2>/dev/null; }
# The rows of a table as JSON, columns as they are named in it.
ask() { # FILE QUERY
    sqlite3 -batch -cmd ".mode csv" -cmd ".import $1 t" -cmd ".mode list" :memory: "$2"
}

for in in h200-mix h200-ddp h200-overlay/rec kineto inspector; do
    csv "$data/$in" >"$work/ops.csv"
    csv --table ranks "$data/$in" >"$work/ranks.csv"
    "$RINGSCOPE" ops --json "$data/$in" 2>/dev/null >"$work/ops.json"
    is "$in: lines end" "$(grep -c $'\r$' "$work/ops.csv")" "$(wc -l <"$work/ops.csv")"
    # Times exceed what jq holds exactly, so they are compared as text.
    is "$in: operations" "$(ask "$work/ops.csv" "SELECT op || ' ' || start_ns || ' ' || end_ns FROM t" | sort | cksum)" \
        "$(sed -E 's/"ranks":.*//' "$work/ops.json" |
            sed -nE 's/.*"op":"([^"]*)".*"start_ns":([0-9-]*|null),"end_ns":([0-9-]*|null).*/\1 \2 \3/p' |
            sed 's/null//g' | sort | cksum)"
    is "$in: what is small" "$(ask "$work/ops.csv" "SELECT op || ' ' || func || ' ' || kind || ' ' || seq || ' ' || bytes || ' ' || last_rank || ' ' || complete || ' ' || missing || ' ' || transfer_ns || ' ' || busbw_gbs FROM t" | sort | cksum)" \
        "$(jq -r 'def t: if . == null then "" else tostring end;
            "\(.op) \(.func) \(.kind) \(.seq | t) \(.bytes | t) \(.last_rank | t) \(.complete) \(.missing | map(tostring) | join(";")) \(.transfer_ns | t) \(.busbw_gbs | t)"' "$work/ops.json" | sort | cksum)"
    is "$in: ranks" "$(ask "$work/ranks.csv" "SELECT op || ' ' || rank || ' ' || wait_ns || ' ' || duration_ns || ' ' || start_source || ' ' || channels FROM t" | sort | cksum)" \
        "$(jq -r 'def t: if . == null then "" else tostring end; .op as $op | .ranks[]
            | "\($op) \(.rank) \(.wait_ns | t) \(.duration_ns | t) \(.start_source | t) \(.channels)"' "$work/ops.json" | sort | cksum)"
done

# Events: every start of the log, with its parent, once; filters leave out what they leave out of the operations.
csv --table events --level all "$data/h200-mix" >"$work/events.csv"
"$RINGSCOPE" export --format jsonl "$data/h200-mix" >"$work/log.jsonl"
is "events" "$(ask "$work/events.csv" "SELECT handle || ' ' || type FROM t" | sort | cksum)" \
    "$(jq -r 'select(.call == "start") | "\(.event) \(.type)"' "$work/log.jsonl" | sort | cksum)"
is "parents" "$(ask "$work/events.csv" "SELECT count(*) FROM t a JOIN t b ON a.pid = b.pid AND a.host = b.host AND a.parent = b.number WHERE a.parent_handle <> b.handle AND a.parent_handle <> ''")" 0
is "events of no operation that passes" "$(csv --table events --func Broadcast "$data/h200-mix" >"$work/some.csv"
    ask "$work/some.csv" "SELECT count(DISTINCT op) FROM t WHERE op <> ''")" \
    "$("$RINGSCOPE" ops --json --func Broadcast "$data/h200-mix" | wc -l)"
is "events that end before they start" "$(ask "$work/events.csv" "SELECT count(*) FROM t WHERE end_ns <> '' AND CAST(end_ns AS INTEGER) < CAST(start_ns AS INTEGER)")" 0
is "states" "$(ask "$work/events.csv" "SELECT count(*) FROM t WHERE type = 'ProxyStep' AND states NOT LIKE 'ProxyStep%=%'")" 0

# What other tools saw: the same activities, with their times, names and launches, as in the timeline's own tables.
activities() { # WHERE OPTION...: by our table of events, and by SQL
    local where=$1
    shift
    csv --table events "$@" "$data/kineto" >"$work/events.csv"
    ask "$work/events.csv" "SELECT a.start_ns || ' ' || a.end_ns || ' ' || a.args || ' ' || a.bytes || ' ' || coalesce(b.start_ns, '') || ' ' || a.op
        FROM t a LEFT JOIN t b ON a.pid = b.pid AND a.parent = b.number" | LC_ALL=C sort >"$work/told"
    [ "$1" = --rows ] && shift 2
    "$RINGSCOPE" sql --csv "$@" "$data/kineto" "SELECT e.start_ns || ' ' || e.end_ns || ' ' || s.text || ' ' || coalesce(e.bytes, '') || ' ' ||
            coalesce(p.start_ns, '') || ' ' || coalesce(o.op, '') AS x
        FROM events e JOIN lanes l ON l.id = e.lane_id JOIN strings s ON s.id = e.name_id
            LEFT JOIN operations o ON o.id = e.operation_id LEFT JOIN events p ON p.id = e.parent_id WHERE l.row $where" 2>/dev/null |
        tail -n +2 | sed -e 's/^"//' -e 's/"$//' -e 's/""/"/g' | LC_ALL=C sort >"$work/wanted"
    if ! cmp -s "$work/told" "$work/wanted" || [ "$(wc -l <"$work/told")" -lt 100 ]; then
        echo "activities with $*: $(diff "$work/told" "$work/wanted" | head -n 3)"
        bad=1
    fi
}
if "$RINGSCOPE" --version | grep -q 'sqlite *on'; then
    activities "NOT IN ('calls', 'operations')" --level net
    activities "NOT IN ('calls', 'operations')" --rank 2
    activities "NOT IN ('calls', 'operations')" --from 100ms --to 200ms
    activities "IN ('compute', 'comm', 'launches')" --rows compute,comm,launches
fi
is "numbers of one process" "$(csv --table events "$data"/h200-overlay/* >"$work/events.csv"
    ask "$work/events.csv" "SELECT count(*) - count(DISTINCT pid || ' ' || number) FROM t")" 0
is "both tools' events" "$(ask "$work/events.csv" "SELECT count(*) > 0 FROM t WHERE type = 'compute' UNION ALL SELECT count(*) > 0 FROM t WHERE type = 'ProxyStep'" | paste -sd' ')" "1 1"

# The schema: the columns of every table in order, with types that hold every value: by sqlite3, whose columns of such
# types keep what is no number as text.
csv --table schema "$data/h200-mix" >"$work/schema.csv"
schema() { ask "$work/schema.csv" "$1" | paste -sd"${2:- }"; }
is "schema of each table" "$(schema 'SELECT DISTINCT "table" FROM t')" "operations ranks events"
is "types" "$(schema "SELECT DISTINCT duckdb || ' ' || pandas FROM t ORDER BY 1" ,)" \
    "BIGINT Int64,BOOLEAN boolean,DOUBLE float64,UBIGINT UInt64,VARCHAR string"
is "types by example" "$(schema "SELECT \"column\" || ' ' || duckdb || ' ' || unit FROM t WHERE \"table\" = 'operations'
    AND \"column\" IN ('op', 'bytes', 'start_ns', 'busbw_gbs', 'tie', 'missing') ORDER BY 1" ,)" \
    "busbw_gbs DOUBLE GB/s,bytes UBIGINT bytes,missing VARCHAR ,op VARCHAR ,start_ns BIGINT ns,tie BOOLEAN "
for in in h200-mix kineto h200-overlay/rec; do
    for table in operations ranks events; do
        csv --table $table "$data/$in" >"$work/typed.csv"
        is "$in: columns of $table" "$(head -n 1 "$work/typed.csv" | tr -d '\r')" \
            "$(schema "SELECT group_concat(\"column\") FROM t WHERE \"table\" = '$table'")"
        schema "SELECT 'CREATE TABLE x (' || group_concat('\"' || \"column\" || '\" ' || duckdb) || ');' FROM t
            WHERE \"table\" = '$table'" >"$work/create.sql"
        wrong=$(schema "SELECT group_concat(printf(CASE duckdb
                WHEN 'BOOLEAN' THEN '\"%w\" NOT IN (''true'', ''false'', '''')'
                WHEN 'DOUBLE' THEN 'typeof(\"%w\") NOT IN (''real'', ''integer'') AND \"%w\" <> '''''
                ELSE 'typeof(\"%w\") <> ''integer'' AND \"%w\" <> ''''' END, \"column\", \"column\"), ' OR ')
            FROM t WHERE \"table\" = '$table' AND duckdb <> 'VARCHAR'")
        is "$in: types of $table" "$(sqlite3 -batch -init "$work/create.sql" -cmd ".import --csv --skip 1 $work/typed.csv x" :memory: \
            "SELECT count(*) FROM x WHERE $wrong; SELECT count(*) > 0 FROM x" 2>&1 | paste -sd' ')" "0 1"
    done
done

# Names of others: quotes, commas and line ends stay; what a spreadsheet would run does not.
cat >"$work/k.json" <<'J'
{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1}, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "=cmd(), \"quoted\"", "pid": 1, "tid": 1, "ts": 0.5, "dur": 90, "args": {}},
{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 1, "dur": 5, "args": {"External id": 1, "Collective name": "allreduce", "In msg nelems": 4, "Out msg nelems": 4, "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0]", "Group size": 1, "Seq": 1}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "pid": 0, "tid": 7, "ts": 10, "dur": 5, "args": {"External id": 1, "device": 0, "stream": 7, "correlation": 3}}
]}
J
csv "$work/k.json" >"$work/k.csv"
is "a name that is a formula" "$(ask "$work/k.csv" "SELECT scope FROM t")" "'=cmd(), \"quoted\""
exit $bad
