#!/bin/sh
# The tour of `make demo`: records a simulated job in which one rank is slow, and looks at the recording.
set -eu
cd "$(dirname "$0")/.."
: "${BUILD:=build}"
demo=$BUILD/demo

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

rm -rf "$demo"
show "$BUILD/ringscope" sim --ranks 8 --hosts 2 --steps 20 --slow 5:2000 -o "$demo"
show "$BUILD/ringscope" info "$demo"

printf '\nRank 5 was made 2 ms late in every step. Next:\n'
printf '  %-46s %s\n' "$BUILD/ringscope export --to jsonl $demo" "every callback, one JSON object a line" \
    "$BUILD/ringscope sim --help" "other jobs: hangs, kills, pipelines, graphs" \
    "$BUILD/ringscope run -o rec -- YOUR COMMAND" "a real job"
