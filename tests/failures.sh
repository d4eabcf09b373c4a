# shellcheck shell=bash
# What failed, told again at the very end: of a long log often only the end is seen. Sourced by tests/run.sh,
# tests/page.sh and tests/check.sh. Who starts first tells for all that it starts: those find FAILURES set, a folder
# with a file for each failure, which begins with its name.
failures_mine=
if [ -z "${FAILURES:-}" ]; then
    FAILURES=$(mktemp -d) || exit 1
    export FAILURES
    failures_mine=1
fi

# failure NAME LOG: notes that it failed, and what the file LOG says about it.
failure() {
    local note
    note=$(mktemp "$FAILURES/${EPOCHREALTIME/[.,]/}.XXXXXX") || return
    { echo "$1" && grep -av '^ *$' "$2" | tail -n 2000 | cut -c 1-200; } >"$note"
}

# failures_told: at most 40 lines for all: of each what looks like the reason, and its last lines. Nothing, where
# nothing failed or somebody else will tell.
failures_told() {
    [ -n "$failures_mine" ] || return 0
    local notes note shown
    notes=("$FAILURES"/*)
    if [ -e "${notes[0]}" ]; then
        shown=("${notes[@]:0:38}")
        echo "what failed:"
        for note in "${shown[@]}"; do
            awk -v most=$((38 / ${#shown[@]} - 1)) '
                NR == 1 { print "  " $0; next }
                { line[NR] = $0 }
                /FAIL|[Ee]rror|ERROR|not found|No such file/ && told < most / 2 { tell[NR]; told++ }
                END {
                    for (i = NR; i > 1 && told < most; i--) if (!(i in tell)) { tell[i]; told++ }
                    for (i = 2; i <= NR; i++) if (i in tell) print "    | " line[i]
                }' "$note"
        done
        [ ${#shown[@]} = ${#notes[@]} ] || echo "  and $((${#notes[@]} - ${#shown[@]})) more"
    fi
}

# failures_gone: at the exit of each.
failures_gone() { [ -z "$failures_mine" ] || rm -rf "$FAILURES"; }
