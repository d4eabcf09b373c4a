#!/bin/bash
# Every key, category, name and state that appears in the traces of tests/data, and every field of our own --json, is
# explained, under its own format; and files are explained by what they hold and lack.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
shopt -s lastpipe # the end of a pipe runs in this shell: explained() sets $bad
data=$(dirname "$0")/../data
plain() { # FILE...: their texts, unpacked
    for f in "$@"; do
        case $f in
        *.gz) gzip -dc "$f" ;;
        *) cat "$f" ;;
        esac
    done
}

"$RINGSCOPE" explain --json >"$TMP/all" || bad=1
jq -r '[.format, .name] | @tsv' "$TMP/all" | sort -u >"$TMP/known"
explained() { # FORMAT < NAMES: each is a row of the table of its format
    sort -u >"$TMP/names"
    [ -s "$TMP/names" ] || { echo "$1: no names found to look for"; bad=1; }
    awk -F'\t' -v format="$1" 'NR == FNR { known[$1, $2] = 1; next } !((format, $0) in known) { print format ": not explained: " $0 }' \
        "$TMP/known" "$TMP/names" >"$TMP/missing"
    [ -s "$TMP/missing" ] && { cat "$TMP/missing"; bad=1; }
}

# ---- the traces of others ----

# The example profiler: not JSON in all versions, so by pattern. Functions are names, too; AllReduce stands for collectives.
mapfile -t dumps < <(find "$data/example" -name '*.json*')
plain "${dumps[@]}" | grep -oE '"[A-Za-z_]+" *:' | sed 's/"\(.*\)".*/\1/' | explained example-profiler
plain "${dumps[@]}" | sed -n 's/.*"cat": *"\([^"]*\)".*/\1/p' | explained example-profiler
plain "${dumps[@]}" | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p' | sed -E 's/^(AllGather|AlltoAll|Broadcast|Reduce|ReduceScatter)$/AllReduce/' |
    explained example-profiler

mapfile -t traces < <(find "$data/kineto" -name '*.json*' ! -path '*/damaged/*')
plain "${traces[@]}" >"$TMP/kineto"
jq -r 'keys[], (.distributedInfo // {} | keys[], (.pg_config[]? | keys[])), (.traceEvents[] | keys_unsorted[], (.cat // empty),
    (.args // {} | keys_unsorted[]))' "$TMP/kineto" | explained kineto

mapfile -t dumps < <(find "$data/flight" -name '*.json')
cat "${dumps[@]}" | jq -r 'keys[], (.entries[] | keys[], (.frames[]? | keys[]), .state), (.pg_config[]? | keys[]), (.pg_status[]? | keys[])' |
    explained flight-recorder
plain "$data"/inspector/* | grep -oE '"[A-Za-z_0-9]+" *:' | sed 's/"\(.*\)".*/\1/' | explained inspector
plain "$data"/comma/* | grep -oE '"[A-Za-z_0-9]+" *:' | sed 's/"\(.*\)".*/\1/' | explained comma
plain "$data"/comma/* | grep -oE '"cat":"[A-Z0-9]+"' | sed 's/.*:"\(.*\)"/\1/' | explained comma
jq -r '.. | objects | keys_unsorted[] | select(test("^[a-z_]+$"))' "$data"/ras/*.json | explained nccl-ras
jq -r 'keys[], (.metadata | keys[]), (.traceEvents[] | keys_unsorted[], (.args // {} | keys_unsorted[]))' "$data"/jax/*.json | explained jax-trace
head -qn1 "$data"/ncclsee/*.csv | tr ',' '\n' | explained ncclsee
{
    grep -h '^"' "$data"/nvprof/*.csv | grep -E '^"(Type|Start)"' | tr ',' '\n' | tr -d '"'
    sed -nE '/^ *(Type|Start) +/p' "$data"/nvprof/*.txt | sed 's/  */ /g; s/Grid Size/Grid_Size/; s/Block Size/Block_Size/' | tr ' ' '\n' |
        sed 's/\*$//; s/Grid_Size/Grid Size/; s/Block_Size/Block Size/' | grep .
} | explained nvprof
{
    jq -r '.. | objects | keys_unsorted[]' "$data"/nccl_tests/*.json
    grep -hE '^# +size ' "$data"/nccl_tests/*.txt | tr -s ' ' '\n' | grep -vx '#'
} | explained nccl-tests
# Tables and columns from the schema that the file begins with.
strings -n 8 "$data"/nsys/*.sqlite | sed -n 's/.*CREATE TABLE \([A-Za-z_]*\)(\(.*\)).*/\1,\2/p' | tr ',' '\n' | sed 's/ .*//' | explained nsys-sqlite

# ---- our own ----

rm -rf "$TMP/run" "$TMP/hang"
"$RINGSCOPE" gen -n 8 --hosts 2 -w mix --slow 5:2000 --steps 6 -o "$TMP/run" >/dev/null
"$RINGSCOPE" gen -n 8 --hosts 2 --hang stalled-net:3@4 -o "$TMP/hang" >/dev/null
for command in info ops comms clocks report overlap critical hang; do
    for input in "$TMP/run" "$TMP/hang" "$data/h200-mix" "$data/kineto" "$data/example/ddp4" "$data/flight/ddp4" "$data/inspector" \
        "$data/comma" "$data/ncclsee" "$data/nccl_tests" "$data/ras" "$data/jax" "$data/nvprof/nvprof-ddp2.txt" "$data/nsys"; do
        "$RINGSCOPE" $command --json "$input" 2>/dev/null
    done >"$TMP/out"
    [ $command = report ] && "$RINGSCOPE" report --json --reference "$data/nccl_tests/all_reduce.txt" "$TMP/run" >>"$TMP/out"
    # Names of event types are keys of info's `events`: they are NCCL's.
    jq -r 'del(.events?, .process_list?[]?.events?) | .. | objects | keys_unsorted[]' "$TMP/out" | explained json
    jq -r '.events? // {} | keys[]' "$TMP/out" >"$TMP/events"
    [ -s "$TMP/events" ] && grep -E '^[A-Z]' "$TMP/events" | explained ringscope
done

# ---- words ----

for word in bar lane row fade "torn edge" last flag bundle; do # of the timeline
    "$RINGSCOPE" explain "$word" >/dev/null 2>&1 || { echo "$word is not explained"; bad=1; }
done
is "a state, shortened" "$("$RINGSCOPE" explain --json sendgpuwait | jq -r '[.format, .name] | join(" ")' | sort | tr '\n' ' ')" \
    "example-profiler SendGpuWait ringscope ProxyStepSendGPUWait "
is "with quotes" "$("$RINGSCOPE" explain '"Comms Id"' | head -1)" "Comms Id: field; PyTorch profiler trace (Kineto)"
"$RINGSCOPE" explain ProxyStp >"$TMP/out" 2>"$TMP/err"
is "unknown: status" $? 1
is "unknown: suggestion" "$(grep -c "did you mean 'ProxyStep'" "$TMP/err")" 1
is "list" "$("$RINGSCOPE" explain | grep -c '^kineto: \|^example-profiler: \|^json: ')" 3
is "formats" "$("$RINGSCOPE" explain --json formats | jq -r .format | sort | tr '\n' ' ')" \
    "comma example-profiler flight-recorder inspector jax-trace kineto nccl-ras nccl-tests ncclsee nsys-sqlite nvprof ringscope "
for format in $("$RINGSCOPE" info --json "$data"/{kineto,nvprof,inspector,comma,ncclsee,nccl_tests,nsys,ras,jax,flight,example/ring4} "$TMP/run" 2>/dev/null | jq -r '.inputs[].format' | sort -u); do
    grep -q "^$format	" "$TMP/known" || { echo "format $format is not explained"; bad=1; }
done

# ---- files ----

lacks() { "$RINGSCOPE" explain --json "$@" 2>/dev/null | jq -r '.lacks[]'; }
ring=$data/example/ring4
is "ring4: who has only proxy lines" "$("$RINGSCOPE" explain --json "$ring" 2>/dev/null |
    jq -r 'select(.lacks | any(test("only lines of the proxy thread, because NCCL gives a group call to its first communicator.*_0.json"))) | .path' |
    sed 's/.*_//' | sort | tr '\n' ' ')" "1.json 2.json 3.json "
is "ring4: whose operations" "$("$RINGSCOPE" explain --json "$ring" 2>/dev/null | jq -r '.holds[] | select(test("^Operations of 4 ranks"))' | wc -l)" 1
is "ring4: ends" "$(lacks "$ring" | grep -c 'StopGpuClk')" 4
is "alone" "$(lacks "$ring"/*_2.json | grep -c 'is not among those named')" 1
is "kineto: window, network, no Seq" "$(lacks "$data/kineto/kineto_rank0.json.gz" | grep -c 'window\|The network\|no Comms Id')" 3
is "kineto with Seq" "$(lacks "$data/kineto/formats/kineto_rank0.json" | grep -c 'no Comms Id')" 0
is "flight" "$(lacks "$data/flight/fr_rank0.json" | grep -c 'enqueued\|the ring keeps')" 2
is "nvprof" "$(lacks "$data/nvprof/nvprof-ddp2.txt" | grep -c 'A time axis')" 1
is "inspector" "$(lacks "$data/inspector/vm-pid1194.log.gz" | grep -c 'VERBOSE')" 1
"$RINGSCOPE" gen --events ops --drop 0.05 -f -o "$TMP/run" >/dev/null
is "recordings: mask" "$(lacks "$TMP/run" | grep -c 'not asked for (RINGSCOPE_EVENTS): .*ProxyOp')" 8
is "recordings: losses" "$(lacks "$TMP/run" | grep -c 'found no room')" 4
exit $bad
