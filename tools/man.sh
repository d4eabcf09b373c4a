#!/bin/bash
# The parts of docs/man that are lists of the program: the common options of each command, and the commands and input
# formats of ringscope(1). Writes them between their marks, or with --check only says whether they are the same.
#
#   tools/man.sh [--check] [PROGRAM]
set -eu
check=
if [ "${1:-}" = --check ]; then
    check=1
    shift
fi
program=$(realpath "${1:-build/ringscope}")
cd "$(dirname "$0")/../docs/man"

bad=0
# write PAGE MARK: standard input takes the place of what is between "; MARK: ..." and "; end".
write() {
    local new
    new=$(awk -v mark="; $2:" 'NR == FNR { text = text $0 "\n"; next }
        index($0, mark) == 1 { print; printf "%s", text; skip = 1; found = 1 }
        skip && $0 == "; end" { skip = 0 }
        !skip && index($0, mark) != 1
        END { if (!found) exit 1 }' - "$1") || {
        echo "docs/man/$1: there is no mark '; $2:'" >&2
        exit 1
    }
    if [ "$check" ]; then
        diff -u "$1" <(printf '%s\n' "$new") >&2 || bad=1
    else
        printf '%s\n' "$new" >"$1.new" && mv "$1.new" "$1"
    fi
}
section() { "$program" --man-cmds | awk -v name="# $1" '/^# / { on = $0 == name; getline; next } on'; }

for command in $("$program" --list-cmds); do
    options=$("$program" "$command" --man-opts 2>/dev/null) || options=
    [ -z "$options" ] || write "ringscope-$command.1.scd" "common options" <<<"$options"$'\n'
done
write ringscope.1.scd commands < <(section COMMANDS)
write ringscope.1.scd "input formats" < <(section INPUTS)
write ringscope.1.scd pages < <(section "SEE ALSO")
[ $bad = 0 ] || echo "tools/man.sh writes these anew" >&2
exit $bad
