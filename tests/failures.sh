# shellcheck shell=bash
# Repeats all failures at the very end: of a long log often only the end is seen. Sourced by tests/run.sh, tests/page.sh and
# tests/check.sh. The outermost script prints them: the scripts that it starts find FAILURES set, a folder with one file per
# failure, which begins with the name of the test.
failures_outermost=
if [ -z "${FAILURES:-}" ]; then
    FAILURES=$(mktemp -d) || exit 1
    export FAILURES
    failures_outermost=1
fi

# failure NAME LOG: keeps the name of what failed and the file LOG.
failure() {
    local note
    note=$(mktemp "$FAILURES/${EPOCHREALTIME/[.,]/}.XXXXXX") || return
    { echo "$1" && grep -av '^ *$' "$2" | tail -n 2000 | cut -c 1-200; } >"$note"
}

# print_failures: at most 40 lines: of each failure the lines that look like the reason, and its last lines. Nothing if
# nothing failed or an outer script prints them.
print_failures() {
    [ -n "$failures_outermost" ] || return 0
    local notes note shown
    notes=("$FAILURES"/*)
    if [ -e "${notes[0]}" ]; then
        shown=("${notes[@]:0:38}")
        echo "failures:"
        for note in "${shown[@]}"; do
            awk -v most=$((38 / ${#shown[@]} - 1)) '
                NR == 1 { print "  " $0; next }
                { line[NR] = $0 }
                /FAIL|[Ee]rror|ERROR|not found|No such file/ && printed < most / 2 { print_it[NR]; printed++ }
                END {
                    for (i = NR; i > 1 && printed < most; i--) if (!(i in print_it)) { print_it[i]; printed++ }
                    for (i = 2; i <= NR; i++) if (i in print_it) print "    | " line[i]
                }' "$note"
        done
        [ ${#shown[@]} = ${#notes[@]} ] || echo "  and $((${#notes[@]} - ${#shown[@]})) more"
    fi
}

# remove_failures: at the exit of each.
remove_failures() { [ -z "$failures_outermost" ] || rm -rf "$FAILURES"; }
