#!/bin/bash
# The table of CONTRIBUTING.md from src/folders: writes it there, or with --check only says whether it is the same.
set -eu
cd "$(dirname "$0")/.."

table() {
    echo '| folder | is | may include |'
    echo '|---|---|---|'
    awk -F '[ \t]*[|][ \t]*' '!/^#/ && NF == 3 { printf "| `src/%s` | %s | %s |\n", $1, $3, $2 == "" ? "nothing" : $2 }' src/folders
}
new=$(awk -v table="$(table)" '/^\| folder \|/ { print table; skip = 1 } !/^\|/ { skip = 0 } !skip' CONTRIBUTING.md)
if [ "${1:-}" = --check ]; then
    diff <(printf '%s\n' "$new") CONTRIBUTING.md && exit
    echo "tools/folders.sh writes the table of CONTRIBUTING.md anew" >&2
    exit 1
fi
printf '%s\n' "$new" >CONTRIBUTING.md
