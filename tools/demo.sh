#!/bin/sh
# The tour of `make demo`: records a simulated job in which one rank is slow, and asks what happened.
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
show "$BUILD/ringscope" report "$demo"
printf '\n$ %s\n' "$BUILD/ringscope ops $demo | head -n 6"
"$BUILD/ringscope" ops "$demo" | head -n 6
show "$BUILD/ringscope" overlap tests/data/kineto
show "$BUILD/ringscope" view "$demo" --width 100
page=$BUILD/demo.html
rm -f "$page"
if show "$BUILD/ringscope" view "$demo" -o "$page"; then
    printf 'The same timeline, interactive: open file://%s in a browser,\n' "$(cd "$BUILD" && pwd)/demo.html"
    printf 'or, on a machine without one, run "%s serve %s" and the ssh line that it prints.\n' "$BUILD/ringscope" "$demo"
fi

printf '\nThe GPU of rank 5 was made to compute 2 ms longer in every step of the first job; the traces of the\n'
printf 'second, of PyTorch on a real GPU, are in tests/data. Next:\n'
printf '  %-58s %s\n' "$BUILD/ringscope ops $demo --op ID --tree" "one operation down to its network steps" \
    "$BUILD/ringscope report $demo --every STEP" "changes over time, step by step" \
    "$BUILD/ringscope clocks $demo" "how clocks that are seconds apart were aligned" \
    "$BUILD/ringscope export $demo -o demo.pftrace" "for ui.perfetto.dev; .json, .otf2, .db, .csv for other tools" \
    "$BUILD/ringscope sql $demo 'SELECT * FROM v_waits'" "who waited for whom, or any other query" \
    "$BUILD/ringscope sim --hosts 2 --hang 2@10 -o $BUILD/hung" "a job that hangs," \
    "$BUILD/ringscope hang $BUILD/hung" "and why" \
    "$BUILD/ringscope report YOUR TRACES" "of PyTorch, Nsight Systems, ... (ringscope explain formats)" \
    "$BUILD/ringscope run -o rec -- YOUR COMMAND" "a real job"
