#!/bin/bash
# docs/sql.md and docs/export.md say what is there: every table, column and view of the schema, word by word, examples that
# run, every column of CSV, and every format. UPDATE=1 writes the list of columns of docs/sql.md anew.
set -u
data=$(dirname "$0")/../data
docs=$(dirname "$0")/../../docs
page=$docs/sql.md
bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$RINGSCOPE" --version | grep -q 'sqlite *on' || {
    echo "built without SQLite"
    exit 77
}
begin="<!-- columns of the schema; tests/system/export_docs.sh compares them -->"
end="<!-- end of columns -->"

# ---- the columns ----
list() {
    echo "$begin"
    "$RINGSCOPE" sql --schema --json | jq -r '
        def capital: (.[0:1] | ascii_upcase) + .[1:];
        if .kind == "table" then "\n### \(.table)\n\n\(.comment | capital).\n\n| column | type | what it is |\n|---|---|---|"
        elif .kind == "column" then "| `\(.column)` | \(.type // "any" | sub("(?<n>( NOT NULL)?) REFERENCES (?<t>[a-z_]+)"; " of `\(.t)`\(.n)")
            | sub(" PRIMARY KEY"; ", key") | sub(" NOT NULL"; ", always")) | \(.comment // "") |"
        else "\n### \(.table)\n\n\(.comment | capital).\n\nCOLUMNS \(.table)" end' |
        while IFS= read -r line; do
            case $line in
            "COLUMNS "*) "$RINGSCOPE" sql --csv "$data/sim-threads" "SELECT group_concat('\`' || name || '\`', ', ') FROM pragma_table_info('${line#COLUMNS }')" |
                tail -n +2 | tr -d '"' | fold -s -w 118 | sed 's/ $//' ;;
            *) printf '%s\n' "$line" ;;
            esac
        done
    echo
    echo "$end"
}
list >"$work/is"
if [ "${UPDATE:-}" ]; then
    awk -v begin="$begin" -v end="$end" -v with="$work/is" '
        $0 == begin { while ((getline line < with) > 0) print line; skip = 1 }
        !skip { print }
        $0 == end { skip = 0 }' "$page" >"$work/page" && cat "$work/page" >"$page"
fi
awk -v begin="$begin" -v end="$end" '$0 == begin { on = 1 } on { print } $0 == end { on = 0 }' "$page" >"$work/says"
diff "$work/says" "$work/is" >"$work/diff" || {
    echo "docs/sql.md is not what the schema is (UPDATE=1 $0 writes it):"
    head -n 10 "$work/diff"
    bad=1
}

# ---- the examples: each block of SQL is a query that runs, on recordings and on traces of other tools ----
awk -v to="$work/example" '/^```sql$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > (to n) }' "$page"
n=0
for query in "$work"/example*; do
    n=$((n + 1))
    for input in "$data/h200-mix" "$data/kineto"; do
        "$RINGSCOPE" sql "$input" - <"$query" >"$work/out" 2>"$work/err" || {
            echo "$(head -n 1 "$query")...: $(head -n 3 "$work/err")"
            bad=1
        }
    done
done
[ "$n" -ge 6 ] || {
    echo "$n examples in docs/sql.md"
    bad=1
}

# ---- docs/export.md: every column of CSV is named in its place, in no other, and every format in the man page ----
named() { # TABLE: the names in its part
    awk -v table="--table $1," '/^(## |[A-Z])/ { on = 0 } /^- --table/ { on = index($0, table) } on' <(tr -d '\140' <"$docs/export.md") |
        sed -e '/^ *<!--/d' -e '/^- /s/^[^:]*://' -e '/^|/s/|[^|]*|$//' -e 's/([^)]*)//' | grep -v '^| column' | grep -o '[a-z][a-z0-9_]*' | sort -u
}
for table in operations ranks events; do
    "$RINGSCOPE" export --format csv --table $table "$data/sim-threads" | head -n 1 | tr -d '\r' | tr ',' '\n' | sort -u | diff - <(named $table) >"$work/diff" || {
        echo "docs/export.md: columns of $table:"
        head -n 10 "$work/diff"
        bad=1
    }
done
for format in $("$RINGSCOPE" export --to none . 2>&1 | sed -n 's/.*there are //p' | tr -d ','); do
    if ! grep -qxF "*$format*" "$docs/man/ringscope-export.1.scd" || ! grep -q "$format" "$docs/export.md" ||
        ! "$RINGSCOPE" export --help | grep -q "^ *$format  "; then
        echo "$format is not told of in the man page, docs/export.md or --help"
        bad=1
    fi
done

# ---- `ringscope explain` knows the names that exports bring ----
"$RINGSCOPE" explain --json | jq -r .name | sort -u >"$work/known"
{
    "$RINGSCOPE" sql --schema --json | jq -r '.column // .table'
    "$RINGSCOPE" sql --schema --json | jq -r 'select(.kind == "view") | .table' | while read -r view; do
        "$RINGSCOPE" sql --csv "$data/sim-threads" "SELECT name FROM pragma_table_info('$view')" | tail -n +2
    done
    "$RINGSCOPE" gen --drop 0.02 --steps 10 -o "$work/lossy" >/dev/null 2>&1
    "$RINGSCOPE" export --format chrome "$work/lossy" | jq -r '.traceEvents[] | select(.cat == "operations") | .args | keys[]' | sort -u
    "$RINGSCOPE" export --format chrome "$work/lossy" | jq -r '.traceEvents[] | select(.ph == "C") | "\(.name) \(.args | keys[0])"' | sort -u
    for table in operations ranks events; do
        "$RINGSCOPE" export --format csv --table $table "$data/sim-threads" | head -n 1 | tr -d '\r' | tr ',' '\n'
    done
    if "$RINGSCOPE" --version | grep -q 'otf2 *on' && command -v otf2-print >/dev/null; then
        "$RINGSCOPE" export --format otf2 "$work/lossy" -o "$work/otf2" >/dev/null
        otf2-print -I "$work/otf2/traces.otf2" | sed -n 's/^Property name *//p'
    fi
} | sort -u | comm -23 - "$work/known" >"$work/unknown"
[ ! -s "$work/unknown" ] || {
    echo "not explained: $(paste -sd' ' "$work/unknown")"
    bad=1
}
exit $bad
