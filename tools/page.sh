#!/bin/sh
# Brings the page of the timeline (viewer/dist/index.html) up to date where Node is there, and copies it to FILE, which
# becomes part of the program. FILE is empty where there is no page: the program is then built without it.
#
#   tools/page.sh FILE
#   tools/page.sh --current   is viewer/dist/index.html newer than its sources?
#   tools/page.sh --node      is there a Node that can make it?
#   tools/page.sh --modules   fetches what it is made and tested with, where that is missing
#
# FILE is touched only when its content changes. Several may run at a time, for several build folders. With WERROR=1 a
# page that cannot be built is an error; else the last one that could be stands in for it.
set -eu
cd "$(dirname "$0")/.."
file=$1
page=viewer/dist/index.html

say() {
    echo "page: $*" >&2
}

current() {
    [ -s $page ] && [ -z "$(find viewer/src viewer/index.html viewer/package.json viewer/package-lock.json \
        viewer/vite.config.ts -type f -newer $page | head -n 1)" ]
}

# Another make may be at it: it is waited for, and what it made is taken.
lock() {
    command -v flock >/dev/null || return 0
    exec 9<viewer
    flock 9
    rm -rf viewer/dist.[0-9]* # of one that was killed
}

node_is_there() {
    command -v npm >/dev/null && [ "$(node -p 'parseInt(process.versions.node) >= 18' 2>/dev/null)" = true ]
}

# What the page is made with. After a failure (no network, most often) it is not tried again for a while.
modules_are_there() {
    have=viewer/node_modules/.package-lock.json
    if [ -e $have ] && [ -z "$(find viewer/package-lock.json -newer $have)" ]; then return 0; fi
    [ -z "$(find "$file.log" -mmin -10 2>/dev/null)" ] || return 1
    echo "  NPM   viewer"
    (cd viewer && npm ci --fetch-retries 1 --fetch-timeout 20000 --no-audit --no-fund --no-progress) \
        >"$file.log" 2>&1 </dev/null || return 1
    touch $have
    rm "$file.log"
}

build() {
    new=viewer/dist.$$
    trap 'rm -rf "$new"' EXIT
    echo "  PAGE  $page"
    # The time of the page is that of the begin of its making: what changes meanwhile makes it stale.
    touch "$file.begin"
    if (cd viewer && node_modules/.bin/vite build --logLevel warn --outDir "dist.$$") >"$file.log" 2>&1 </dev/null; then
        rm -f "$file.log"
        mkdir -p viewer/dist
        touch -r "$file.begin" "$new/index.html"
        mv "$new/index.html" $page
    else
        tail -n 20 "$file.log" >&2
        rm -f "$file.log"
        [ "${WERROR:-}" != 1 ] || exit 1
        say "could not be built, see above"
    fi
    rm -f "$file.begin"
}

case $file in
--current)
    current
    exit
    ;;
--node)
    node_is_there
    exit
    ;;
--modules)
    lock
    file=$(mktemp)
    rm "$file"
    modules_are_there || {
        tail -n 20 "$file.log" >&2
        rm "$file.log"
        exit 1
    }
    exit
    ;;
esac

if ! current; then
    lock
    if current; then
        :
    elif ! node_is_there; then
        why="no Node (18 or later) with npm here"
    elif ! modules_are_there; then
        why="npm could not fetch what it is made with (npm ci in viewer/ says why)"
    else
        build
    fi
    if [ -s $page ]; then
        [ -z "${why:-}" ] || say "$why: $page is older than its sources, and used as it is"
    else
        say "${why:-it has errors}: built without the page of the timeline (view -o x.html, serve)"
        page=/dev/null
    fi
fi
cmp -s $page "$file" || {
    cp $page "$file.new.$$"
    mv "$file.new.$$" "$file"
}
