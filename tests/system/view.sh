#!/bin/bash
# `ringscope view` from outside: what it makes of all inputs, what it refuses, and that a failure leaves nothing behind.
# sanitizers: address
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
data=$root/tests/data
bad=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

fail() {
    echo "$*"
    bad=1
}
is() { # WHAT GOT WANTED
    [ "$2" = "$3" ] || fail "$1: $2, not $3"
}
has() { # WHAT TEXT PATTERN
    grep -q -- "$3" <<<"$2" || fail "$1: no \"$3\" in: $2"
}
# view STATUS ARGUMENTS...: runs it; $out and $err are what it said.
view() {
    local want=$1
    shift
    "$RINGSCOPE" view "$@" >out.txt 2>err.txt
    local status=$?
    is "view $*: exit status ($(head -n 3 err.txt))" "$status" "$want"
    out=$(tr -d '\0' <out.txt | head -c 4000)
    err=$(cat err.txt)
    rm -f out.txt err.txt
}
nothing_left() { # WHAT: neither an output nor a temporary file
    is "$1: files left" "$(ls -A)" ""
}
scripts() { grep -o '<script' "$1" | wc -l; }

# ---- how it is called ----
view 2
has "no input, no output" "$err" 'nothing to read'
view 2 -o x.html
has "no input" "$err" 'nothing to read'
view 2 "$data/h200-mix" -o x.pdf
has "what is it" "$err" '\.html, \.svg, \.png or \.txt'
view 2 "$data/h200-mix" -o x.html --rows operations,nonsense
has "rows" "$err" "no kind of row 'nonsense'; there are: operations, calls"
for row in $(sed -n 's/.*there are: //p' <<<"$err" | tr -d ','); do
    grep -q "\*$row\*" "$root/docs/man/ringscope-view.1.scd" || fail "the man page does not know the row $row"
done
view 2 "$data/h200-mix" -o x.svg --text
view 2 "$data/h200-mix" -o x.svg --relations some
view 2 "$data/h200-mix" -o x.svg --dark --light
view 2 "$data/h200-mix" -o x.svg --width -3
view 2 "$data/h200-mix" -o x.svg --width 10001
view 2 "$data/h200-mix" -o x.html --most 0
view 1 /nowhere -o x.html
view 1 "$data/h200-mix" -o nowhere/x.svg
nothing_left "wrong calls"

# ---- pictures and text: what is in them is the matter of picture.sh ----
view 0 "$data/h200-mix" -o x.svg
is "svg: stdout and stderr" "$out$err" ""
has "svg" "$(head -c 300 x.svg)" '<svg'
if [ -z "${SAN:-}" ]; then # libraries of fonts keep what they read
    view 0 "$data/h200-mix" -o x.png
    is "png" "$(head -c 4 x.png | od -An -c | tr -d ' ')" '211PNG'
fi
view 0 "$data/h200-mix" --text
has "text" "$out" 'rank 0'
text=$out
view 0 "$data/h200-mix"
is "without -o: text" "$out" "$text"
is "text: escapes in a pipe" "$(grep -c $'\033' <<<"$out")" 0
view 1 "$data/h200-mix" -o x.svg
has "there already" "$err" 'exists'
mkfifo pipe.svg # opened once, or its reader would see the end before anything came
cat pipe.svg >piped &
reader=$!
"$RINGSCOPE" view "$data/h200-mix" -o pipe.svg
status=$?
is "into a pipe" $status 0
[ $status = 0 ] || kill $reader # it may wait for somebody who writes
wait
cmp piped x.svg || fail "into a pipe: other bytes"
rm -f x.svg x.png pipe.svg piped

if ! "$RINGSCOPE" --version | grep -q 'page *on'; then
    view 1 "$data/h200-mix" -o x.html
    has "no page" "$err" 'built without the page'
    nothing_left "no page"
    [ $bad = 0 ] || exit 1
    echo "built without the page of the timeline"
    exit 77
fi

# ---- a page ----
view 0 "$data/h200-mix" -o x.html
is "page: stdout and stderr" "$out$err" ""
has "page" "$(head -c 100 x.html)" '<!doctype html>'
for id in data rest; do is "elements $id" "$(grep -o "id=\"ringscope-$id\">[A-Za-z0-9+/]" x.html | wc -l)" 1; done
is "addresses in it" "$(grep -oE '(src|href)="?https?:' x.html | wc -l)" 0
view 0 "$data/h200-mix" -o - # the same on standard output
"$RINGSCOPE" view "$data/h200-mix" -o - | cmp - x.html || fail "standard output differs"
"$RINGSCOPE" view "$data/h200-mix" -o - 2>gone.txt | head -c 1000 >/dev/null
is "a reader that went away" "${PIPESTATUS[0]}$(cat gone.txt)" 0 # it had enough
rm gone.txt
if command -v script >/dev/null; then
    said=$(script -qec "'$RINGSCOPE' view '$data/h200-mix' -o t.html" /dev/null </dev/null)
    has "on a terminal" "$said" 't.html: [0-9,]* bars, 174 operations, .*; open it in a browser'
    rm -f t.html
fi

# What is there is not touched, unless asked for.
sum=$(md5sum <x.html)
view 1 "$data/h200-ddp" -o x.html
has "exists" "$err" 'x.html.*exists'
is "refused: the file" "$(md5sum <x.html)" "$sum"
view 0 "$data/h200-ddp" -o x.html --force
[ "$(md5sum <x.html)" != "$sum" ] || fail "--force did not overwrite"
is "files" "$(ls -A)" x.html
scripts=$(scripts x.html)
rm x.html

# Names of a trace are never markup.
zcat "$data/kineto/kineto_rank0.json.gz" | sed 's/"name": *"[a-z][^"]*"/"name": "<\/script><script>alert(1)<\/script><img src=x onerror=alert(2)>"/' >k.json
view 0 k.json -o x.html --title '</script><script>alert(3)</script>'
is "scripts in a page of bad names" "$(scripts x.html)" "$scripts"
is "images" "$(grep -c 'onerror=alert' x.html)" 0
view 0 k.json -o x.svg --title '</title><script>alert(3)</script>' --open-rows
is "scripts in a picture of bad names" "$(grep -c '<script\|<img' x.svg)" 0
rm x.html x.svg k.json

# ---- refused ----
view 1 "$data/h200-mix" -o x.html --most 500k
has "too large" "$err" 'would be .*ringscope serve.*--rank'
view 1 "$data/h200-mix" -o x.html --most 20k # sure before all is written
has "too large, early" "$err" "would be larger than .*ringscope serve.*--rank"
nothing_left "too large"
for output in "-o x.html" "-o x.svg" "-o x.txt" --text; do
    for filter in "--rank 77" "--from 100s" "--func Nope" "--comm ffffffff"; do
        # shellcheck disable=SC2086 # options are words
        view 1 "$data/h200-mix" $output $filter
        has "$output $filter" "$err" "matches nothing\|nothing is in this time window"
        is "$output $filter: stdout" "$out" ""
    done
done
view 1 "$data/ncclsee" -o x.html
has "no time axis" "$err" 'these files contain no times'
view 1 "$data/nvprof/nvprof_summary.csv" -o x.svg
has "no time axis" "$err" 'these files contain no times'
view 1 "$data/inspector/vm-pid1194.log.gz" --text
has "no time axis" "$err" 'these files contain no times'
nothing_left "refused"

# ---- no room ----
TMPDIR=/nowhere view 1 "$data/h200-mix" -o x.html
has "no temporary folder" "$err" 'temporary file in /nowhere.*set TMPDIR'
(
    ulimit -f 100 # of 1 KiB
    view 1 "$data/h200-mix" -o x.html
    has "a file that may not grow" "$err" 'File too large'
    exit $bad
) || bad=1
nothing_left "no room"
if [ "$(id -u)" = 0 ] && unshare -m mount -t tmpfs none "$TMP" 2>/dev/null; then
    full() { # SIZE: a file system of that size at "full"
        unshare -m bash -c "mount -t tmpfs -o size=$1 none full && shift && \"\$@\"; status=\$?; ls -A full; exit \$status" _ "${@:1}" 2>err.txt
    }
    mkdir full
    left=$(TMPDIR=$dir/full full 40k "$RINGSCOPE" view "$data/h200-mix" -o x.html)
    is "full disk of temporary files" "$?$left" 1
    has "full disk of temporary files" "$(cat err.txt)" "No space left on device"
    left=$(full 300k "$RINGSCOPE" view "$data/h200-mix" -o full/x.html)
    is "full disk of the output" "$?$left" 1
    has "full disk of the output" "$(cat err.txt)" "full/x.html.*No space left on device"
    rmdir full
    rm err.txt
    nothing_left "full disk"
fi

# ---- all inputs ----
# What has a time axis becomes a page, and a picture, whatever its format.
for input in "$data"/h200-* "$data"/h200-overlay/* "$data"/h200-tp2pp2dp2/* "$data"/kineto "$data"/kineto/formats/* "$data"/example/* "$data"/flight/[!h]* \
    "$data"/flight/hang-[!r]* "$data"/flight/hang-real/* "$data"/nsys "$data"/nvprof/nvprof_gpu* "$data"/comma \
    "$data"/inspector/inspector_rank0.log; do
    case $input in */h200-overlay | */h200-tp2pp2dp2) continue ;; esac # folders of folders
    "$RINGSCOPE" view "$input" -o x.html 2>err.txt || fail "$input: $(tail -n 1 err.txt)"
    rm -f x.html
done
rm -f err.txt
view 0 "$data/h200-overlay/rec" "$data/h200-overlay/kineto" -o x.html
rm x.html
# A recording that is cut short is drawn as far as it goes.
head -c 20000 "$data/h200-mix/vm.721.rsc" >cut.rsc
view 0 cut.rsc "$data"/h200-mix/vm.72[234].rsc -o x.html
has "cut short" "$err" 'cut.rsc'
rm cut.rsc x.html
nothing_left "all inputs"

# ---- what the page reads of it ----
if [ -z "${SAN:-}" ] && [ -x "$root/viewer/node_modules/.bin/vitest" ]; then
    (cd "$root/viewer" && node_modules/.bin/vitest run test/recorded.test.ts) >vitest.txt 2>&1 </dev/null || {
        tail -n 40 vitest.txt
        bad=1
    }
fi
exit $bad
