#!/bin/bash
# long
# The same run through every exporter: the same operations on the same ranks, the same intervals to the ns, the same
# messages, collectives, parents and launches, with and without filters. Each output is read by another program (jq,
# protoc, OTF2's reader, sqlite3), turned into the same lines, and held against those of `ops --json`.
# What a format cannot hold is said, and held to, where it is compared.
# shellcheck disable=SC2016,SC2317 # the variables are jq's; functions are called by the name of a format
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
data=$root/tests/data
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
on() { "$RINGSCOPE" --version | grep -Eq "$1 +on"; }
if ! command -v sqlite3 >/dev/null || ! on sqlite; then
    echo "no SQLite"
    exit 77
fi
formats="chrome sqlite"
! command -v protoc >/dev/null || formats="$formats perfetto"
! on otf2 || formats="$formats otf2"

same() { # WHAT FILE FILE: lines in any order
    local said
    LC_ALL=C sort -o "$2" "$2"
    LC_ALL=C sort -o "$3" "$3"
    cmp -s "$2" "$3" && return
    said=$(diff "$2" "$3" | grep '^[<>]' | head -n 4)
    is "$1" "$said" ""
}
# Ids and times of 64 bits are more than jq holds: they come as texts, and are counted from the begin.
exact() { sed -E 's/("[a-z0-9_]*_ns"):(-?[0-9]+)/\1:"\2"/g'; }
ns='def ns: if . == null then null else ((.[:-9] | tonumber) - ($t0[:-9] | tonumber)) * 1000000000
    + (.[-9:] | tonumber) - ($t0[-9:] | tonumber) end; '
# Lines "KIND rest" to files NAME.KIND.
deal() { # NAME KINDS...
    local name=$1 kind
    shift
    for kind in "$@"; do : >"$name.$kind"; done
    awk -v name="$name" '{ file = name "." $1; sub(/^[a-z]+ /, ""); print >file }'
}

# ---- every format as lines ----
# part: "op rank start end flags bound", message: "op from to", collective: "op ranks". Ranks are those of the job, times ns
# from the begin. flags, behind a dash: u when it began is not told, and the start is that of its launch or call; b the
# end is a lower bound; o had not ended: ops tells no end, and what draws it goes to the last sign of life. bound: the upper one of the end.

of_op="op comm func kind seq src dst fanout bytes start_ns end_ns"
of_rank="op rank global_rank enqueued_ns launched_ns start_ns start_source end_ns end_source end_after_ns end_before_ns duration_ns wait_ns channels"
# With --rank, ops and tables list the other ranks of an operation too; what is drawn is of these ranks alone.
drawn='def drawn: .; '
of_ops() { # FILE
    exact <"$1" | jq -r --arg t0 "$t0" --arg of_op "$of_op" --arg of_rank "$of_rank" "$ns$drawn"'
        def line($columns): [.[($columns / " ")[]]] | map(if . == null then "-" else tostring end) | join(" ");
        (.ranks | map({key: "\(.rank)", value: .global_rank}) | from_entries) as $of | .op as $op
        | "operation " + line($of_op), (.ranks[] | "rank " + (. + {op: $op} | line($of_rank))),
        (select(.kind != "fanout") | any(.ranks[]; .start_source == "kernel") as $kernels | .ranks[] | drawn
            # A start told by the network says nothing beside another rank that tells when its kernel began.
            | (.start_ns | ns) as $start | (.end_ns | ns) as $till
            | (if $kernels and .start_source != "kernel" then null else $start end) as $began
            | ((.launched_ns // .enqueued_ns) | ns) as $near
            | (if $began != null then $began elif $start != null and ($near == null or ($till != null and $near > $till)) then $start
               else $near end) as $from | select($from != null)
            | (if $till != null and $till >= $from then [$till, if .end_early then "b" else "" end]
               elif .open and .end_before_ns == null then ["-", "o"]
               else [([$from, (.end_after_ns | ns) // $from] | max), "b"] end) as [$to, $flags]
            | (.end_before_ns | ns) as $before | (if $flags == "b" and $before != null and $before > $to then $before else "-" end) as $most
            | "part " + ([$op, .global_rank, $from, $to, "-" + (if $began == null then "u" else "" end) + $flags, $most] | join(" "))),
        (select(.kind == "pair" and ([.ranks[] | drawn] | length) == 2) | "message \($op) \($of["\(.src)"]) \($of["\(.dst)"])"),
        (select(.kind != "pair" and .kind != "fanout")
            | [.ranks[] | drawn | select(.start_ns // .launched_ns // .enqueued_ns) | .global_rank] | select(length > 1)
            | "collective \($op) \(sort | join(","))")' | deal ops operation rank part message collective
}
flags='def flags: "-" + (if .start_unknown then "u" else "" end) + (if .end_bounded then "b" else "" end) + (if .open then "o" else "" end); '
# What is bounded is drawn to its upper bound, so that it is seen: "short" is drawn otherwise.
most='def most: .start as $s | .args.longest_ns | if . == null then "-" else $s + . end;
    def till: most as $most | if .args.end_bounded | not then .end elif $most != "-" and $most != .end then "short" else .start + .args.shortest_ns end; '
# An arrow of Chrome is in the slice that begins there, else in the one that is open.
at='def at($on): (.ts | ns) as $at | $on["\(.tid)"] | (map(select(.start == $at)) | select(length > 0)) // map(select(.start <= $at and $at <= .end)) | .[]; '
slices='def ns: . * 1000 | round; def slices: reduce .[] as $s ({}; .["\($s.tid)"] += [$s + {start: ($s.ts | ns), end: (($s.ts | ns) + ($s.dur | ns))}]); '
of_chrome() { # microseconds with three decimals are ns
    jq -r "$flags$most$slices$at"'([.traceEvents[] | select(.ph == "X" and .cat == "operations")] | slices) as $on
        | ($on[][] | "part " + ([.args.op, .args.global_rank, .start, till, (.args | flags), most] | join(" "))),
        # All ends of an arrow lie in one operation. A message runs backwards where clocks err.
        ([.traceEvents[] | select(.cat == "message" or .cat == "operation")] | group_by(.id)[] | .[0].cat as $cat | length as $n
            | map(at($on)) | group_by(.args.op)[] | select(length == $n) | sort_by(.name)
            | if $cat == "message" then "message \(.[0].args.op) \(.[1].args.global_rank) \(.[0].args.global_rank)"
              else "collective \(.[0].args.op) \(map(.args.global_rank) | sort | join(","))" end)' x.json |
        deal chrome part message collective
}
of_perfetto() { # names of process tracks tell ranks; ids are decimal
    local kind op rest
    protoc --decode=perfetto.Trace --proto_path="$data" perfetto.proto <x.pftrace | awk -f "$root/tests/system/perfetto_slices.awk" >x.jsonl
    is "$what: perfetto: packets" "$(grep '^{"error"' x.jsonl | head -n 2)" ""
    is "$what: perfetto: begin" "$(tail -n 1 x.jsonl | grep -o '[0-9]\{19\}')" "$t0"
    jq -s -r "$flags$most"'(reduce (.[] | select(.track)) as $t ({}; .["\($t.track)"] = $t)) as $tracks
        | def rank: $tracks["\(.)"] | if .process then .name | capture("^rank (?<r>[0-9]+)").r | tonumber else .parent | rank end;
        [.[] | select(.slice and .cat == "operations") | . + {end: (.start + .dur)} | {op: .args.op, rank: (.on | rank), start, end: till, flags: (.args | flags), most: most, name: .slice,
            arrows: (.flows + .ends)}]
        | (.[] | "part " + ([.op, .rank, .start, .end, .flags, .most] | join(" "))),
        ([.[] | .arrows[] as $f | {f: $f, op, rank, name}] | group_by(.f)[] | select(length > 1 and (map(.op) | unique | length) == 1) | sort_by(.name)
            | if map(.name) == ["Recv", "Send"] then "message \(.[0].op) \(.[1].rank) \(.[0].rank)"
              else "collective \(.[0].op) \(map(.rank) | sort | join(","))" end)' x.jsonl |
        while read -r kind op rest; do printf '%s 0x%016x %s\n' "$kind" "$op" "$rest"; done | deal perfetto part message collective
}
of_otf2() {
    "$BUILD/tests/otf2" x.otf2/traces.otf2 >seen.jsonl 2>err || is "$what: otf2" "$(head -n 3 err)" fine
    exact <seen.jsonl | jq -s -r --arg t0 "$t0" "$ns$flags"'
        (.[] | if .op then (.end_ns | ns) as $stop | (.end_before_ns | ns) as $most
                | (if .end_bounded | not then $stop elif $most != null and $most != $stop then "short" else (.end_after_ns | ns) end) as $till
                | "part " + ([.op, .global_rank, (.start_ns | ns), $till, flags, $most // "-"] | join(" "))
            elif .message then "message \(.message) \(.from) \(.to)" else empty end),
        ([.[] | select(.collective)] | group_by(.collective)[] | select(length > 1)
            | "collective \(.[0].collective) \(map(.rank) | sort | join(","))")' | deal otf2 part message collective
}
line() { # COLUMNS: as an expression of SQL
    local c list=""
    for c in $1; do list="$list || ' ' || coalesce(nullif($c, ''), '-')"; done
    echo "${list#" || ' ' || "}"
}
of_sqlite() {
    sqlite3 -batch -separator ' ' x.sqlite "CREATE TEMP VIEW drawn AS SELECT op, r.rank, e.* FROM events e JOIN lanes l ON l.id = lane_id
            JOIN operations o ON o.id = operation_id JOIN ranks r ON r.id = e.rank_id WHERE l.row = 'operations'" \
        ".once sqlite.part" "SELECT op, rank, coalesce(start_ns, near_ns) - $t0, coalesce(end_ns, end_after_ns) - $t0,
            '-' || iif(start_ns IS NULL, 'u', '') || iif(end_ns IS NULL AND open IS NOT 1, 'b', '') || iif(open = 1, 'o', ''), coalesce(iif(end_before_ns > end_after_ns, end_before_ns - $t0, NULL), '-') FROM drawn" \
        ".once sqlite.message" "SELECT s.op, s.rank, d.rank FROM drawn s JOIN drawn d ON d.op = s.op WHERE s.kind = 'Send' AND d.kind = 'Recv'" \
        ".once sqlite.collective" "SELECT op, group_concat(rank) FROM (SELECT op, rank FROM drawn WHERE kind NOT IN ('Send', 'Recv') ORDER BY op, rank)
            GROUP BY op HAVING count(*) > 1" \
        ".once sqlite.operation" "SELECT $(line "$of_op") FROM (SELECT o.*, comm, f.op AS fanout FROM operations o
            JOIN communicators c ON c.id = o.communicator_id LEFT JOIN operations f ON f.id = o.fanout_id)" \
        ".once sqlite.rank" "SELECT $(line "$of_rank") FROM (SELECT p.*, op FROM operation_ranks p JOIN operations o ON o.id = operation_id)"
}
of_csv() {
    sqlite3 -batch -cmd ".mode csv" -cmd ".import ops.csv o" -cmd ".import ranks.csv r" -cmd ".mode list" -cmd ".once csv.operation" \
        -cmd "SELECT $(line "$of_op") FROM o" -cmd ".once csv.rank" -cmd "SELECT $(line "$of_rank") FROM r" :memory: .quit
}

write() { # FORMAT FILE ARGUMENTS...
    local format=$1 file=$2
    shift 2
    rm -rf "$file"
    "$RINGSCOPE" export --format "$format" "$@" -o "$file" 2>err || is "$what: $format" "$(head -n 2 err)" exported
}
run() { # NAME ARGUMENTS...: inputs and filters
    local f kind
    what=$1
    shift
    write csv ops.csv "$@"
    write csv ranks.csv --table ranks "$@"
    write chrome x.json --rows operations "$@"
    write sqlite x.sqlite --rows operations "$@"
    write perfetto x.pftrace --rows operations "$@"
    [ "${formats%otf2*}" = "$formats" ] || write otf2 x.otf2 --rows operations "$@"
    t0=$(head -c 4000 x.json | grep -o '"t0_ns":"[0-9]*"' | grep -o '[0-9]\{19\}')
    "$RINGSCOPE" ops --json "$@" 2>/dev/null >ops.json
    [ -z "${SAN:-}" ] || return # written is enough: what is in them does not depend on it
    of_ops ops.json
    [ -s ops.part ] || is "$what: parts" none some
    of_csv
    for f in $formats; do
        "of_$f"
        same "$what: $f: intervals as Chrome has them" "$f.part" chrome.part
        awk '$5 ~ /o/ { $4 = "-" } { print }' "$f.part" >"$f.told"
        same "$what: $f: intervals" "$f.told" ops.part
        same "$what: $f: messages" "$f.message" ops.message
        same "$what: $f: collectives" "$f.collective" ops.collective
    done
    # A fan-out that filters leave out is named in CSV, and has no row that SQLite could point to.
    awk 'NR == FNR { there[$1]; next } !($8 in there) { $8 = "-" } { print }' ops.operation ops.operation >pointed
    same "$what: csv: operations" csv.operation ops.operation
    same "$what: sqlite: operations" sqlite.operation pointed
    for f in csv sqlite; do same "$what: $f: ranks of operations" "$f.rank" ops.rank; done
}
cut_whole() { # IN: a cut without filters is the same to the last digit
    write rsc cut "$@"
    "$RINGSCOPE" ops --json cut 2>/dev/null >cut.json
    same "$what: rsc" cut.json ops.json
}
gen() { "$RINGSCOPE" gen -f --no-truth "$@" -o made >/dev/null 2>&1 || is "gen $*" failed made; }

# ---- runs ----
run mix "$data/h200-mix"
[ -n "${SAN:-}" ] || is "mix: parts, messages, collectives" "$(wc -l <ops.part) $(wc -l <ops.message) $(wc -l <ops.collective)" "432 108 57"
cut_whole "$data/h200-mix"
run overlay "$data"/h200-overlay/*
run torch "$data"/kineto/*.gz
gen -w alltoall -n 6 --hosts 2 --steps 2 --drop 0.1 # a launch of sends and receives; half of the processes lose a tenth
run lossy made
cut_whole made
gen -w pipeline -n 4 --hosts 2 --steps 2 --no-recording 1
run absent made
gen -w mix -n 4 --hosts 2 --steps 5 --devices-per-process 2 --hang stalled-net:1@4
run hung made
cut_whole made
for level in ops all; do # operations do not depend on how deep one looks
    write chrome x.json --level $level made
    [ -z "${SAN:-}" ] || continue
    of_chrome
    awk '$5 ~ /o/ { $4 = "-" } { print }' chrome.part >chrome.told
    same "hung: --level $level" chrome.told ops.part
done
if [ -n "${PLUGIN:-}" ]; then # what the recorder itself wrote
    "$RINGSCOPE" sim --plugin "$PLUGIN" --speed 20 --events all -w mix -n 4 --steps 1 -o simulated >/dev/null 2>err || is sim "$(head -n 2 err)" run
    run sim simulated
    cut_whole simulated
fi

# ---- filters ----
for filter in "--func Broadcast --func SendRecv" "--comm world --from 100ms --to 165ms"; do
    # shellcheck disable=SC2086 # several words
    run "mix $filter" "$data/h200-mix" $filter
done
drawn='def drawn: select(.global_rank == 0 or .global_rank == 3); '
run "mix, two ranks" "$data/h200-mix" --rank 0,3 --from 130ms

# ---- what hangs on what: "row start end row start end", parent or launch first ----
gen -w mix -n 2 --hosts 2 --steps 2 --net-steps 2 --api 6
what=hangs
write chrome x.json --level all made
write sqlite x.sqlite --level all made
t0=$(head -c 4000 x.json | grep -o '"t0_ns":"[0-9]*"' | grep -o '[0-9]\{19\}')
jq -r "$slices$at"'([.traceEvents[] | select(.ph == "X")] | slices) as $on
    | ($on[][] | "slice \(.cat) \(.start) \(.end)"),
    ([.traceEvents[] | select(.cat == "parent" or .cat == "launch")] | group_by(.id)[] | .[0].cat as $cat
        | map([at($on) | "\(.cat) \(.start) \(.end)"] | join(" or ")) | "\($cat) \(join(" "))")' x.json | deal chrome slice parent launch
sqlite3 -batch -separator ' ' x.sqlite "CREATE TEMP VIEW bar AS SELECT id, row, at_ns - $t0 AS start, coalesce(v.end_ns, (SELECT end_after_ns FROM events e WHERE e.id = v.id),
        (SELECT end_after_ns FROM network_steps n WHERE n.id = v.id)) - $t0 AS end, parent_id FROM v_timeline v" \
    ".once sqlite.slice" "SELECT row, start, end FROM bar" \
    ".once sqlite.parent" "SELECT p.row, p.start, p.end, c.row, c.start, c.end FROM bar c JOIN bar p ON p.id = c.parent_id" \
    ".once sqlite.launch" "SELECT p.row, p.start, p.end, c.row, c.start, c.end FROM launches JOIN bar p ON p.id = launch_id JOIN bar c ON c.id = event_id"
for kind in slice parent launch; do
    same "hangs: $kind" chrome.$kind sqlite.$kind
    [ -s sqlite.$kind ] || is "hangs: $kind" none some
done
# The table of events has them as NCCL told them: the network's and the calls' are those of the timeline, with their parents.
write csv events.csv --table events --level all made
sqlite3 -batch -separator ' ' -cmd ".mode csv" -cmd ".import events.csv t" -cmd ".mode list" -cmd ".separator ' '" :memory: \
    "CREATE TEMP VIEW bar AS SELECT host || pid AS process, number, parent, CASE type WHEN 'ProxyOp' THEN 'proxy' WHEN 'ProxyStep' THEN 'steps' WHEN 'KernelLaunch' THEN 'launches' WHEN 'Group' THEN 'launches'
        WHEN 'GroupApi' THEN 'calls' WHEN 'CollApi' THEN 'calls' WHEN 'P2pApi' THEN 'calls' END AS row, start_ns - $t0 AS start, end_ns - $t0 AS end FROM t" \
    ".once csv.slice" "SELECT row, start, end FROM bar WHERE row IS NOT NULL" \
    ".once csv.parent" "SELECT p.row, p.start, p.end, c.row, c.start, c.end FROM bar c JOIN bar p ON p.process = c.process AND p.number = c.parent
        WHERE (c.row = 'steps' AND p.row = 'proxy') OR (c.row = 'calls' AND p.row = 'calls')"
grep -E '^(proxy|steps|launches|calls) ' sqlite.slice >some.slice
grep -E '^(proxy [0-9]+ [0-9]+ steps|calls [0-9]+ [0-9]+ calls) ' sqlite.parent >some.parent
for kind in slice parent; do same "hangs: $kind of csv" csv.$kind some.$kind; done
# OTF2 has no network steps, and its other relations are regions that nest and the attribute `operation`.
if [ "${formats%otf2*}" != "$formats" ]; then
    write otf2 x.otf2 --level all made
    "$BUILD/tests/otf2" x.otf2/traces.otf2 2>err | exact >seen.jsonl || is "hangs: otf2" "$(head -n 3 err)" fine
    jq -r --arg t0 "$t0" "$ns"'select(.region != null) | "\(.start_ns | ns) \(.end_ns | ns)"' seen.jsonl >otf2.slice
    grep -Ev '^(operations|steps|network) ' sqlite.slice | cut -d ' ' -f 2- >some.slice
    same "hangs: regions" otf2.slice some.slice
fi

# ---- Kineto traces come back with their own times: those of ops before clocks are aligned ----
what=kineto
write kineto traces "$data"/kineto/*.gz
for trace in traces/*; do
    gzip -dc "$trace" | jq -r '.distributedInfo.rank as $rank | .traceEvents[]
        | select(.cat? == "kernel" and .args["ringscope op"]?)
        | (.args["ringscope ops"] // [.args["ringscope op"]])[] as $op | "\($op) \($rank) \(.ts * 1000 | round) \(.dur * 1000 | round)"'
done >kineto.part
t0=$(gzip -dc "$data/kineto/kineto_rank0.json.gz" | grep -o '"baseTimeNanoseconds": *[0-9]*' | grep -o '[0-9]*$')
"$RINGSCOPE" ops --json --no-align "$data"/kineto/*.gz 2>/dev/null | exact | jq -r --arg t0 "$t0" "$ns"'select(.kind != "fanout") | .op as $op | .ranks[] | select(.start_source == "kernel")
    | "\($op) \(.global_rank) \(.start_ns | ns) \((.end_ns | ns) - (.start_ns | ns))"' >ops.part
[ -s ops.part ] || is "kineto: kernels" none some
same "kineto: kernels" kineto.part ops.part
exit $bad
