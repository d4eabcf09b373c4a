#!/bin/bash
# The tables of fields in docs/json.md and the lists of columns in docs/export.md, from the tables of src/fields: writes them
# there, or with --check says which rows are wrong. BUILD/tests/field_tables is the program that prints them.
#
# A table is between <!-- fields: NAME --> and <!-- end of fields -->; a list of columns between
# <!-- columns: NAME --> and <!-- end of columns -->.
set -euo pipefail
cd "$(dirname "$0")/.."
fields=${BUILD:-build}/tests/field_tables
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

list() { # NAME: "`a`, `b`" in lines of at most 120 characters
    "$fields" csv "$1" | awk '{ printf "%s\140%s\140", (NR > 1 ? ", " : ""), $0 } END { print "" }' | fold -s -w 118 |
        sed -e 's/ *$//' -e 's/^/  /'
}
page() { # FILE: as it should be
    local line skip=
    while IFS= read -r line; do
        case $line in
        '<!-- end of fields -->' | '  <!-- end of columns -->') skip= ;;
        esac
        [ "$skip" ] || printf '%s\n' "$line"
        case $line in
        '<!-- fields: '*)
            line=${line#*: }
            printf '| field | type | meaning |\n|---|---|---|\n'
            "$fields" json "${line% -->}"
            skip=1
            ;;
        '  <!-- columns: '*)
            line=${line#*: }
            list "${line% -->}"
            skip=1
            ;;
        esac
    done <"$1"
}
bad=0
for file in docs/json.md docs/export.md; do
    page "$file" >"$work/page"
    if [ "${1:-}" = --check ]; then
        diff "$file" "$work/page" >"$work/diff" && continue
        echo "$file: not what src/fields says (make field-docs writes it):"
        head -n 20 "$work/diff"
        bad=1
    else
        cat "$work/page" >"$file"
    fi
done
exit $bad
