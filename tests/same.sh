#!/bin/bash
# Two builds of the reader, held against each other: does a change of the structure change what comes out?
#
#   tests/same.sh OLD NEW [IN...]     OLD, NEW: programs; IN: further folders of inputs, beside tests/data and runs of gen
#
# Every folder with files below tests/data and IN is an input, and each IN as a whole. Of each, all that the commands say
# as JSON and all that the exporters write is compared byte by byte, with the exit statuses; databases as `.dump`. OP stands
# for an operation of the input.
# `conclusion` is left out: its sentences are words. Differences are listed with their first lines, and the exit status is 1.
#
#   KINDS="json export"   what to compare; further kinds: text (tables and messages), picture (SVG, terminal, page)
#   IGNORE="NAME..."      JSON members that are meant to differ
#   ONLY=TEXT             only inputs and commands in whose line TEXT occurs
#   JOBS=2                at a time
set -u
[ $# -ge 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
OLD=$(realpath -- "$1") NEW=$(realpath -- "$2") || exit 2
shift 2
ins=()
for in in "$@"; do ins+=("$(realpath -- "$in")"); done
cd "$(dirname "$0")/.." || exit 1
export OLD NEW KINDS=${KINDS:-json export} IGNORE=${IGNORE:-} LC_ALL=C TZ=UTC COLUMNS=100
WORK=$(mktemp -d) || exit 1
export WORK
trap 'rm -rf "$WORK"' EXIT

# ---- inputs ----

gen() { # NAME OPTION...: both make it, of which the old one's is used
    local name=$1
    shift
    mkdir -p "$WORK/gen" "$WORK/gen2"
    "$OLD" gen "$@" -o "$WORK/gen/$name" >/dev/null || exit 1
    (cd "$WORK/gen2" && "$NEW" gen "$@" -o "$name" >/dev/null)
    diff -rq "$WORK/gen/$name" "$WORK/gen2/$name" >/dev/null || echo "gen $*: not the same" >>"$WORK/differ"
    rm -rf "$WORK/gen2"
}
gen ddp --steps 12 --slow 3:900
gen tpdp -w tpdp --ranks 8 --steps 6 --drop 0.02
gen pipeline -w pipeline --ranks 4 --steps 6 --late 2@2
gen alltoall -w alltoall --ranks 6 --hosts 3 --steps 5 --no-recording 4
gen graph -w graph --steps 6 --ring 1:200000
gen mix -w mix --ranks 8 --devices-per-process 2 --steps 6 --api 6 --slow-link 0-3:5
gen v4 --api 4 --events ops --steps 4
gen hang --steps 12 --hang stalled-net:3@10
gen mismatch --steps 12 --mismatch 5@8
gen example --as example --steps 4 --ranks 4

list() { # every folder below with files in it
    find -L "$@" -name fuzz -prune -o -type f -printf '%h\n' | sort -u
}
{
    list tests/data "$WORK/gen" "${ins[@]}"
    printf '%s\n' tests/data/h200-overlay "${ins[@]}"
} | grep -vx tests/data | sort -u >"$WORK/inputs"

# ---- commands ----

cat >"$WORK/commands" <<'END'
json info --json IN
json report --json IN
json report --json --by comm --warmup 1 --every STEP IN
json report --json --rank 0-2 --from 1ms IN
json report --json --no-align --run all IN
json overlap --json IN
json critical --json IN
json hang --json IN
json ops --json IN
json ops --json --func AllReduce --same-host IN
json ops --json --at 5ms IN
json comms --json IN
json clocks --json IN
json explain --json IN
json ops --json --op OP IN
json ops --op OP --tree IN
json sql --json IN select*from[v_waits]
json sql --json IN select*from[v_network]
export export IN -o x.json
export export IN -o x.pftrace
export export IN --rank 1 --level all -o x.pftrace
export export IN -o x.otf2
export export IN -o x.sqlite
export export IN -o x.csv
export export --to csv --table ranks IN -o x.csv
export export --to csv --table events --level all IN -o x.csv
export export IN -o x.jsonl
export export --to rsc --from 1ms IN -o x.rsc
export export --to kineto IN -o x.kineto
text info IN
text report IN
text report --table nccl-tests IN
text overlap IN
text critical IN
text hang IN
text ops IN
text comms IN
text clocks IN
text explain IN
picture view IN
picture view IN --level all -o x.svg
picture view IN -o x.html
END
{
    while read -r kind line; do
        case " $KINDS " in *" $kind "*) ;; *) continue ;; esac
        while read -r in; do printf '%s\t%s\t%s\n' "$kind" "$line" "$in"; done <"$WORK/inputs"
    done <"$WORK/commands"
    case " $KINDS " in *" text "*) # what is the same for all inputs
        for c in '' $("$OLD" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do printf 'text\t%s\t-\n' "$c --help"; done ;;
    esac
} | grep -F -- "${ONLY:-}" >"$WORK/todo"

# ---- one of them, by both ----

# plain KIND FOLDER: what was written, without what may differ.
plain() {
    local out=$2/out name
    if [ "$1" = json ]; then
        local drop='.conclusion'
        for name in $IGNORE; do drop+=",.$name"; done
        jq -c "walk(if type == \"object\" then del($drop) else . end)" "$out" >"$2/plain" 2>/dev/null || cp "$out" "$2/plain"
        rm "$out"
    fi
    [ "$1" = text ] || rm -f "$2/err"
    if [ -f "$2/x.sqlite" ]; then
        sqlite3 "$2/x.sqlite" .dump | sed '/^INSERT/!s/ *-- .*//' >"$2/dump" # the schema's comments are words
        rm "$2/x.sqlite"
    fi
    if [ -f "$2/x.otf2/traces.otf2" ]; then # the anchor has a random number of 8 bytes
        strings -n 9 "$2/x.otf2/traces.otf2" >"$2/x.otf2/anchor"
        rm "$2/x.otf2/traces.otf2"
    fi
}

same() { # KIND COMMAND IN
    local dir which program words in=$3
    dir=$(mktemp -d "$WORK/one.XXXXXX") || exit 1
    [ "$in" = - ] || in=$(realpath -- "$in")
    local line=$2 op=
    case $line in *" OP "*)
        op=$("$OLD" ops --json "$in" 2>/dev/null | sed -n '1,40{s/^{"op":"\([^"]*\)".*/\1/p}' | sed -n '3p')
        ;;
    esac
    read -ra words <<<"${line/ OP / ${op:-0x0} }"
    for which in old new; do
        mkdir -p "$dir/$which"
        program=$OLD
        [ $which = old ] || program=$NEW
        # From one folder name, since outputs may name it.
        mkdir "$dir/here"
        (cd "$dir/here" && timeout 300 "$program" "${words[@]/#IN/$in}" >out 2>err </dev/null
            echo $? >status)
        rmdir "$dir/$which"
        mv "$dir/here" "$dir/$which"
        plain "$1" "$dir/$which"
    done
    if ! diff -r "$dir/old" "$dir/new" >"$dir/diff" 2>&1; then
        {
            printf '%s: %s\n' "$3" "$2"
            head -n 12 "$dir/diff" | cut -c 1-300 | sed 's/^/    /'
        } >"$dir/said"
        flock "$WORK" cat "$dir/said" >>"$WORK/differ"
    fi
    rm -rf "$dir"
}
export -f same plain
touch "$WORK/differ"
tr '\t\n' '\0\0' <"$WORK/todo" | xargs -0 -r -n 3 -P "${JOBS:-2}" bash -c 'same "$@"' same
cat "$WORK/differ"
echo "$(wc -l <"$WORK/todo") compared, $(grep -c '^[^ ]' "$WORK/differ") differ"
[ ! -s "$WORK/differ" ]
