#!/bin/bash
# ringscope sql: answers are those of the other commands, on any input; a query only reads, and mistakes are explained.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data
work=$TMP
"$RINGSCOPE" --version | grep -q 'sqlite *on' || {
    echo "built without SQLite"
    exit 77
}

sql() { "$RINGSCOPE" sql --csv "$@" 2>"$work/err" | tail -n +2; }

mix=$data/h200-mix
is "operations" "$(sql "$mix" "SELECT count(*) FROM operations")" "$("$RINGSCOPE" ops --json "$mix" | wc -l)"
is "operations of a rank and function" "$(sql --rank 1 --func AllReduce "$mix" "SELECT count(*) FROM operations")" \
    "$("$RINGSCOPE" ops --json --rank 1 --func AllReduce "$mix" | wc -l)"
is "ranks of operations" "$(sql "$mix" "SELECT op, rank, p.start_ns FROM operation_ranks p JOIN operations o ON o.id = operation_id
    WHERE kind = 'coll' ORDER BY 1, 2" | sha256sum)" \
    "$("$RINGSCOPE" ops --json "$mix" | sed 's/_ns":\([0-9][0-9]*\)/_ns":"\1"/g' |
        jq -r 'select(.kind == "coll") | .op as $op | .ranks[] | "\($op),\(.rank),\(.start_ns // "")"' | LC_ALL=C sort -t, -k1,1 -k2,2n | sha256sum)"
is "the costliest" "$(sql "$mix" "SELECT rank, cost_ns FROM v_stragglers LIMIT 1")" \
    "$("$RINGSCOPE" report --json "$mix" | jq -r '.stragglers[0] | "\(.rank),\(.cost_ns)"')"
for input in "$mix" "$data/kineto"; do
    is "bandwidths of $input" "$(sql "$input" "SELECT func, bytes, nranks, calls, round(busbw_gbs, 3) * 1000 FROM v_bandwidth" | sed 's/\.0$//' | LC_ALL=C sort)" \
        "$("$RINGSCOPE" report --by comm --json "$input" | jq -r '.by_func[] | [.func, .bytes, .nranks, .calls, (if .busbw_gbs then .busbw_gbs * 1000 | round else null end)] | @csv' |
            tr -d '"' | LC_ALL=C sort)"
done
is "network" "$(sql "$mix" "SELECT rank, peer, bytes, steps, net_ns, gpu_ns, recv_ns FROM v_network" | sort)" \
    "$("$RINGSCOPE" report --json "$mix" | jq -r '.network[] | [.rank, .peer, .bytes, .messages, .net_ns, .gpu_ns, .recv_ns] | @csv' | sort)"
is "all views can be read" "$("$RINGSCOPE" sql --schema --json | jq -r 'select(.kind == "view") | .table' | while read -r view; do
    "$RINGSCOPE" sql "$mix" "SELECT * FROM $view LIMIT 1" 2>&1 >/dev/null
done)" ""

# Views against a truth that they did not make: rank 1 comes 0.4 ms late to every second all-reduce, on another clock.
"$RINGSCOPE" gen -f -o "$work/late" --ranks 2 --hosts 2 --steps 10 --buckets 2 --slow 1:400 --truth-times >/dev/null 2>&1
truth=$(jq '[.operations[] | select(.[5] == 8388608) | .[11][1] - .[11][0]] | add' "$work/late/truth.json")
error=$("$RINGSCOPE" ops --json "$work/late" | jq -s '[.[].error_ns] | max')
is "who waited for whom" "$(sql "$work/late" "SELECT rank, last_global_rank, operations, abs(wait_ns - $truth) <= 10 * 2 * $error
    FROM v_waits WHERE rank = 0")" "0,1,10,1"
truth=$(jq '[.operations[] | select(.[5] == 8388608) | (.[12] | max) - (.[11] | max)] | add / length' "$work/late/truth.json")
is "bandwidth" "$(sql "$work/late" "SELECT calls, abs(transfer_ns - $truth) <= 2 * $error, abs(algbw_gbs - bytes / transfer_ns) < 0.1,
    busbw_gbs = algbw_gbs FROM v_bandwidth WHERE bytes = 8388608")" "10,1,1,1" # of two ranks the factor is 1
is "who was late" "$(sql "$work/late" "SELECT rank, times_last, matters FROM v_stragglers LIMIT 1")" "1,10,1"
# No wait is told below twice the clock error, and all that are told are those of the operations.
for input in "$work/late" "$mix"; do
    is "$input: waits" "$(sql "$input" "SELECT rank, func, sum(operations), sum(wait_ns), min(max_ns) FROM v_waits GROUP BY 1, 2 ORDER BY 1, 2" | cut -d, -f1-4)" \
        "$("$RINGSCOPE" ops --json "$input" | jq -r 'select((.tie | not) and .fanout == null) | . as $o | .ranks[]
            | select(.wait_ns > 0 and .wait_ns >= 2 * ($o.error_ns // 0) and .rank != $o.last_rank) | "\(.global_rank) \($o.func) \(.wait_ns)"' |
            LC_ALL=C sort -k1,1n -k2,2 | awk '{ k = $1 "," $2 } k != at { if (NR > 1) print at "," n "," sum; at = k; n = sum = 0 }
                { n++; sum += $3 } END { print at "," n "," sum }')"
done
rm -r "$work/late"

# The same answer from an exported database, whose filters are in the query.
"$RINGSCOPE" export --format sqlite "$mix" -o "$work/mix.sqlite"
query="SELECT kind, count(*), sum(end_ns - start_ns) FROM v_timeline GROUP BY kind ORDER BY 1"
is "an export" "$(sql "$work/mix.sqlite" "$query" | sha256sum)" "$(sql "$mix" "$query" | sha256sum)"
"$RINGSCOPE" sql --rank 0 "$work/mix.sqlite" "SELECT 1" 2>/dev/null
is "filters on an export" $? 2
"$RINGSCOPE" sql "$work/mix.sqlite" "$mix" "SELECT 1" >"$work/out" 2>/dev/null
is "an export beside other inputs" "$? $(cat "$work/out")" "2 "
is "an export in other commands" "$("$RINGSCOPE" ops "$work/mix.sqlite" 2>&1 >/dev/null | head -1)" \
    "ringscope ops: $work/mix.sqlite: a database written by \`ringscope export\`, which ringscope does not read: query it with \`ringscope sql\`, or give the recordings or traces it was made from"
rm -f "$work/out"

# Other tools' files, mixed, and those without times.
is "mixed inputs" "$(sql "$data"/h200-overlay/* "SELECT DISTINCT tool FROM processes ORDER BY 1" | paste -sd' ')" \
    "flight-recorder kineto ringscope"
is "the same process, once" "$(sql "$data"/h200-overlay/* "SELECT count(*) FROM processes WHERE same_as IS NULL")" 4
for input in "$data"/*/; do
    case $input in */h200-overlay/ | */h200-tp2pp2dp2/ | */ras-h200/ | */fuzz/ | */diff-h200/ | */stages/) continue ;; esac
    "$RINGSCOPE" sql "${input%/}" "SELECT count(*) FROM operations, meta" >/dev/null 2>"$work/err" || {
        echo "$input: $(tail -1 "$work/err")"
        bad=1
    }
done
is "statistics" "$("$RINGSCOPE" sql --csv "$data/ncclsee" "SELECT count(*) > 0 FROM statistics" 2>/dev/null | tail -1)" 1

# Forms.
is "CSV" "$("$RINGSCOPE" sql --csv "$mix" "SELECT 1 AS a, 'x,\"y' AS b, NULL, '', 0.1" | paste -sd'|')" \
    'a,b,NULL,'"''"',0.1|1,"x,""y",,"",0.1'
is "JSON" "$("$RINGSCOPE" sql --json "$mix" "SELECT 9007199254740993 AS n, NULL AS u, 'é' AS t, 0.5 AS t")" \
    '{"n":9007199254740993,"u":null,"t":"é","t_2":0.5}'
is "a table" "$("$RINGSCOPE" sql "$mix" "SELECT 'ab' AS t, 7 AS number, NULL AS x")" 't   number     x
ab       7  null'
is "functions that are tables" "$(sql "$mix" "SELECT count(*) FROM operations, json_each(seen_by), pragma_table_info('meta')")" $((2 * $("$RINGSCOPE" ops --json "$mix" | wc -l)))
is "bytes that are no text" "$(for form in --csv --json; do "$RINGSCOPE" sql $form "$mix" "SELECT x'00ff41' AS b, x'' AS e" | tail -1; done)" "X'00FF41',X''
{\"b\":\"X'00FF41'\",\"e\":\"X''\"}"
is "a text with a 0 byte in a table" "$("$RINGSCOPE" sql "$mix" "SELECT char(65, 0, 66) AS t" | tail -1)" "A?B"
is "names that would be taken" "$("$RINGSCOPE" sql --json "$mix" "SELECT 1 AS id, 2 AS id, 3 AS id_2")" '{"id":1,"id_3":2,"id_2":3}'
is "comments and semicolons" "$(sql "$mix" "; -- first
SELECT 7; /* behind */ ; -- it")" 7
is "many columns" "$(sql "$mix" "SELECT $(seq -s, 1 2000)" | tr ',' '\n' | wc -l)" 2000
is "nothing" "$("$RINGSCOPE" sql --json "$mix" "SELECT 1 WHERE 0")" ""
is "control characters" "$("$RINGSCOPE" sql "$mix" "SELECT char(27) || '[2J' AS x" | tail -1)" "?[2J"
is "tables that are named" "$("$RINGSCOPE" sql --schema v_waits launches | grep -c '^CREATE')" 2
is "columns of one" "$("$RINGSCOPE" sql --schema --json launches | jq -r '.column // empty' | paste -sd' ')" "launch_id event_id"
is "inputs say nothing of it" "$("$RINGSCOPE" sql --schema "$mix" | sha256sum)" "$("$RINGSCOPE" sql --schema | sha256sum)"
"$RINGSCOPE" sql --schema operation >"$work/out" 2>"$work/err"
is "one that is not there" "$? $(grep -c "did you mean 'operations'?" "$work/err")" "2 1"
rm "$work/out"
is "tables in the schema" "$("$RINGSCOPE" sql --schema | grep -c '^CREATE TABLE')" 16
"$RINGSCOPE" sql "$mix" "SELECT * FROM v_timeline a, v_timeline b" 2>"$work/err" | head -2 >/dev/null
is "a closed pipe says nothing" "$(cat "$work/err")" ""

# A query only reads. Nothing of it is a reason to read the inputs first.
for query in "DELETE FROM operations" "ATTACH '$work/x' AS x" "PRAGMA journal_mode = WAL" "CREATE TABLE x (a)" "VACUUM INTO '$work/x'" \
    "SELECT load_extension('x')" "SELECT 1; SELECT 2" "" "INSERT INTO meta VALUES (1, 2)" "CREATE TEMP TABLE x AS SELECT 1" \
    "SELECT writefile('$work/x', 'x')" "BEGIN"; do
    for input in "$mix" "$work/mix.sqlite"; do
        "$RINGSCOPE" sql "$input" "$query" >"$work/out" 2>"$work/err"
        is "status of: $query" $? 2
        if [ ! -s "$work/err" ] || [ -s "$work/out" ]; then
            echo "no message: $query"
            bad=1
        fi
    done
done
is "files that queries made" "$(ls "$work")" "$(printf 'err\nmix.sqlite\nout')"

# Mistakes: where, and what may be meant.
says() { # QUERY TEXT
    "$RINGSCOPE" sql "$mix" "$1" 2>"$work/err"
    grep -qF -- "$2" "$work/err" || {
        echo "$1: does not say '$2': $(cat "$work/err")"
        bad=1
    }
}
says "SELECT star_ns FROM operations" "did you mean 'start_ns'?"
says "SELECT o.fnc FROM operations o" "did you mean 'func'?"
says "SELECT * FROM operation" "did you mean 'operations'?"
says "SELECT * FROM v_wait" "did you mean 'v_waits'?"
says "SELECT 1
FROM operations WHER 1" "  FROM operations WHER 1"
says "SELECT +* 2" "          ^"
says ";
SELECT +* 2" "          ^"
says ".tables" "ringscope sql --schema"
says "$mix" "there is no query behind"
"$RINGSCOPE" sql "$mix" 2>"$work/err"
is "no query" $? 2

# A query from a file, of several lines; what is too large, or empty, is none.
printf 'SELECT count(*)\nFROM operations;\n' >"$work/query"
is "from standard input" "$(sql "$mix" - <"$work/query")" "$("$RINGSCOPE" ops --json "$mix" | wc -l)"
"$RINGSCOPE" sql "$mix" - </dev/null 2>/dev/null
is "an empty one" $? 2
head -c 2000000 /dev/zero | tr '\0' ' ' | "$RINGSCOPE" sql "$mix" - 2>/dev/null
is "one without an end" $? 1
is "numbers for people" "$("$RINGSCOPE" sql "$mix" "SELECT 1234567.5 AS a, 1234.5678915 AS b, 12345678901.5 AS c, 1e20 AS d" | tail -1 | tr -s ' ')" \
    "1234567.5 1234.56789 12345678902 1e+20"
"$RINGSCOPE" sql "$work/none" "SELECT 1" 2>"$work/err"
is "no input" $? 1
exit $bad
