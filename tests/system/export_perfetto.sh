#!/bin/bash
# long
# `export --format perfetto`: protoc decodes every packet by tests/data/perfetto.proto without a field that it does not know,
# and all are as Perfetto's importer asks (perfetto_slices.awk); slices, arrows and counters are those of `export --format chrome`,
# to the ns, and operations those of `ops --json`.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
data=$root/tests/data
if ! command -v protoc >/dev/null; then
    echo "protoc is not installed (Debian: protobuf-compiler)"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

decode() { protoc --decode=perfetto.Trace --proto_path="$data" perfetto.proto <"$1" | awk -f "$root/tests/system/perfetto_slices.awk"; }

# Both as: slices (lane:start is a key: no two of a lane begin together), arrows between them, steps of proxy operations, counters.
# Either gives lines "PART value"; process groups are one line.
# shellcheck disable=SC2016 # a variable of jq
lines='def lines: to_entries[] | .key as $part | if $part == "groups" then .value else .value[] end | "\($part) \(tojson)";'
{ echo "$lines" && cat "$root/tests/system/chrome_bound.jq"; } >chrome.jq
cat >>chrome.jq <<'J'
.traceEvents as $e
| ($e | tracks) as $tracks
| ([$e[] | select(.ph == "M" and .name == "process_name")] | length) as $rows
| [$e[] | select(.ph == "X") | {lane: (.tid - $rows), start: (.ts | ns), dur: (.dur | ns), name, cat, op: .args.op}] as $slices
| (reduce $slices[] as $s ({}; .["\($s.lane):\($s.start)"] = $s.cat)) as $cats
| [$e[] | select(.ph == "s" or .ph == "t" or .ph == "f") | {id, cat, key: "\(.tid - $rows):\(bound($tracks).start)"}]
| group_by(.id) | map({cat: .[0].cat, keys: map(.key)}) as $flows
| [$flows[] | .keys as $k | range(1; $k | length) | [$k[. - 1], $k[.]] | sort] as $pairs
| {slices: ($slices | map([.lane, .start, .dur, .name, .cat]) | sort),
   arrows: ([$pairs[] | select(map($cats[.]) | index("steps") | not)] | unique),
   steps: ([$pairs[] | select(map($cats[.]) | index("steps"))] | unique),
   counters: ([$e[] | select(.ph == "C") | [.pid, "\(.name) \(.args | keys[0])", (.ts | ns), (.args | to_entries[0].value)]] | sort),
   groups: [$e[] | select(.ph == "X" and .args.pg_name) | ["\(.tid - $rows):\(.ts | ns)", .args.pg_name, .args.pg_desc // ""]]}
| lines
J
echo "$lines" >perfetto.jq
cat >>perfetto.jq <<'J'
. as $all
| (reduce ($all[] | select(.track)) as $t ({}; .[$t.track | tostring] = $t)) as $tracks
| ([$all[] | select(.slice) | .on] | min) as $first
| [$all[] | select(.slice) | . + {lane: (.on - $first + 1)}] as $slices
| (reduce $slices[] as $s ({}; .["\($s.lane):\($s.start)"] = $s.cat)) as $cats
| [$slices | to_entries[] | .key as $order | .value | (.flows + .ends)[] as $f | {f: $f, key: "\(.lane):\(.start)", start, $order, cat, end: (.ends | index($f) != null)}]
| group_by(.f) | map(sort_by([.start, .order])) as $flows
| ($flows | map(select(map(.cat) | index("steps")))) as $steps
| {slices: ($slices | map([.lane, .start, .dur, .slice, .cat]) | sort),
   arrows: ([$flows[] | select(map(.cat) | index("steps") | not) | map(.key) as $k | range(1; $k | length) | [$k[. - 1], $k[.]] | sort] | unique),
   steps: ([$steps[] | [.[] | select(.cat != "steps") | .key] as $p | .[] | select(.cat == "steps") | [$p[0], .key] | sort] | unique),
   early: [$flows[] | .[:-1][] | select(.end)],
   lone: [$flows[] | select(length < 2 and (.[0].f | tonumber) / 1152921504606846976 < 5)],
   late: [$flows[] | select(.[0].end)],
   groups: (reduce ($slices[] | {key: "\(.lane):\(.start)", said: ([$tracks[$tracks[.on | tostring].parent | tostring].name,
       .args.pg_name, .args.pg_desc] | map(. // "") | join(" "))}) as $s ({}; .[$s.key] = $s.said)),
   counters: ([$all[] | select(.counter) | $tracks[.counter | tostring] as $t | [$tracks[$t.parent | tostring].process, $t.name, .at, .value]] | sort),
   uneven: ([$all[] | select(.counter)] | group_by(.counter) | map(select(.[-1].value != 0 or (map(.value) | min) < 0) | .[0]))}
| lines
J
compare() { # WHAT EXPORT-ARGUMENTS...
    local what=$1 part said
    shift
    "$RINGSCOPE" export --format perfetto "$@" -o x.pftrace --force 2>err || is "$what" "$(head -n 2 err)" exported
    "$RINGSCOPE" export --format chrome "$@" -o x.json --force 2>/dev/null
    protoc --decode_raw <x.pftrace >raw || is "$what: decode_raw" failed decoded
    decode x.pftrace >x.jsonl
    is "$what: packets that are wrong" "$(grep -h '^{"error"' x.jsonl | head -n 3)" ""
    is "$what: begin" "$(tail -n 1 x.jsonl | jq -r .base)" "$(head -c 4000 x.json | grep -o '"t0_ns":"[0-9]*"' | grep -o '[0-9]*"$' | tr -d '"')"
    jq -r -f chrome.jq x.json >of_chrome
    jq -r -s -f perfetto.jq x.jsonl >of_perfetto
    for part in slices arrows steps counters; do
        grep "^$part " of_chrome >a
        said=$(grep "^$part " of_perfetto | diff a - | head -n 4)
        is "$what: $part" "$said" ""
        [ "$part" != slices ] || [ -s a ] || is "$what: slices" none some
    done
    is "$what: process groups that no slice and no track names" "$(jq -n -c --slurpfile c <(sed -n 's/^groups //p' of_chrome) \
        --slurpfile p <(sed -n 's/^groups //p' of_perfetto) \
        '[$c[0][] | . as [$key, $name, $desc] | $p[0][$key] as $said | select([$name, $desc] | all(. as $t | $said | contains($t)) | not)] | .[:2]')" "[]"
    # Perfetto forgets a flow that ends, passes over an end of none, and draws nothing of one slice. Flows across ranks
    # (5, 6 in the upper bits) may have lost the other to a filter.
    is "$what: flows that end too early" "$(grep -m 2 '^early ' of_perfetto)" ""
    is "$what: flows that end before they begin" "$(grep -m 2 '^late ' of_perfetto)" ""
    is "$what: flows of one slice" "$(grep -m 2 '^lone ' of_perfetto)" ""
    is "$what: counters that do not end at zero" "$(grep -m 2 '^uneven ' of_perfetto)" ""
}

compare kineto "$data/kineto/formats"
compare "all of kineto" "$data/kineto"
is "kineto: a fifth of the JSON" "$(($(stat -c %s x.json) * 10 / $(stat -c %s x.pftrace) >= 50))" 1
compare example "$data/example/oneprocess4"
"$RINGSCOPE" gen --ranks 4 --hosts 2 --callbacks 8k --drop 0.03 --no-truth -o gen >/dev/null 2>&1
compare gen gen
is "gen: process groups" "$(sed -n 's/^groups //p' of_chrome | jq 'length > 0')" true
compare "all of gen" gen --level all
RINGSCOPE_TEST_PIECE=100 compare "all of gen in pieces" gen --level all
compare "a job of threads" "$data/sim-threads"
compare mix "$data/h200-mix"

# Operations of the mix, as `ops --json` has them. Ids are decimal here: bash turns ours.
"$RINGSCOPE" ops --json "$data/h200-mix" | jq -r 'select(.kind != "fanout") | . as $o | .ranks[] | select(.start_ns)
    | [$o.op, ($o.seq // "-"), $o.bytes, (.wait_ns // "-"), ($o.transfer_ns // "-"), ($o.last_rank // "-")] | join(" ")' \
    | while read -r op rest; do printf '%u %s\n' "$op" "$rest"; done | sort >of_ops
jq -r 'select(.slice and .cat == "operations" and .args.start_unknown == null) | .args
    | [.op, (.seq // "-"), .bytes, (.wait_ns // "-"), (.transfer_ns // "-"), (.last_rank // "-")] | join(" ")' x.jsonl | sort >of_perfetto
is "mix: operations as in ops" "$(diff of_perfetto of_ops | head -n 4)" ""

# Tracks: a process a rank with two counters, communicators below it, lanes below those; all that wait are seen.
is "mix: processes" "$(jq -s -c '[.[] | select(.process) | .name | sub(" .*[?].*"; "")] | length' x.jsonl)" 4
is "mix: counters" "$(jq -s -c '[.[] | select(.unit) | [.name, .unit]] | group_by(.) | map([.[0][], length])' x.jsonl)" \
    '[["bytes in flight",3,4],["operations waiting",2,4]]'
is "mix: threads" "$(jq -s -c '[.[] | select(.thread)] | length > 0 and ([.[].thread] | length == (unique | length))' x.jsonl)" true
is "mix: flags" "$(jq -s -c '[.[] | select(.flag)] | length' x.jsonl)" "$(jq '[.traceEvents[] | select(.ph == "i")] | length' x.json)"
is "mix: lanes hang on communicators" "$(jq -s -c '(reduce (.[] | select(.track)) as $t ({}; .[$t.track | tostring] = $t)) as $tracks
    | [.[] | select(.slice and .cat == "operations") | $tracks[$tracks[.on | tostring].parent | tostring] | (.name | startswith("comm ")) and $tracks[.parent | tostring].process > 0] | unique' x.jsonl)" "[true]"
is "mix: calls stand in group calls" "$(jq -s -c '[.[] | select(.slice and .cat == "calls") | [.slice == "group call", .depth]] | unique' x.jsonl)" "[[false,1],[true,0]]"
is "mix: a fifth of the JSON" "$(($(stat -c %s x.json) * 10 / $(stat -c %s x.pftrace) >= 50))" 1
exit $bad
