#!/bin/bash
# Running out of memory: one message, the exit status of a failure, and nothing unfinished is left. Each command is given
# more and more memory until it is done, so that it ends in many places.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
cd "${TMP:?}" || exit 1

"$RINGSCOPE" gen --ranks 8 --steps 600 -o run >/dev/null || exit 1
mkdir out

within() { # KIB COMMAND...
    local most=$1
    shift
    (ulimit -v "$most" && exec "$@")
}

least=8192 # what the program itself and its libraries take
until within $least "$RINGSCOPE" --version >/dev/null 2>&1; do least=$((least * 21 / 20)); done

tried=0
runs_out() { # NAME COMMAND...: writes into out/, if anything
    local name=$1 most=$least ended=0 status
    shift
    while :; do
        within $most "$@" >said.out 2>said.err
        status=$?
        [ $status -eq 0 ] && break
        ended=$((ended + 1))
        is "$name, $most KiB: exit status" $status 1
        is "$name, $most KiB: lines on stderr" "$(wc -l <said.err)" 1
        grep -qi 'memory' said.err || is "$name, $most KiB: message" "$(cat said.err)" "one about memory"
        is "$name, $most KiB: left behind" "$(ls -A out)" ""
        rm -rf out/* out/.[!.]*
        most=$((most * 10 / 9))
        if [ $most -gt $((64 * least)) ]; then
            echo "$name: never done"
            bad=1
            break
        fi
    done
    if [ "$ended" -lt 2 ]; then
        echo "$name: ran out of memory only $ended times"
        bad=1
    fi
    tried=$((tried + ended))
    rm -rf out/* said.out said.err
}

has_part() { "$RINGSCOPE" --version | grep -q "^ *$1 *on"; }
runs_out report "$RINGSCOPE" report run --json
if has_part page; then runs_out "view to a page" "$RINGSCOPE" view run -o out/page.html; fi
runs_out "view to a picture" "$RINGSCOPE" view run -o out/picture.svg
runs_out perfetto "$RINGSCOPE" export --to perfetto run -o out/trace.pftrace
if has_part sqlite; then runs_out sqlite "$RINGSCOPE" export --to sqlite run -o out/run.db; fi
if has_part otf2; then runs_out otf2 "$RINGSCOPE" export --to otf2 run -o out/archive; fi
echo "$tried runs ended for want of memory"
exit $bad
