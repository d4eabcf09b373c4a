#!/bin/sh
# Builds the timeline page (viewer/dist/index.html) if it is out of date and Node is installed, and copies it to FILE, which
# is embedded in the program. Without a page FILE is empty, and the program is built without it.
#
#   tools/page.sh FILE
#   tools/page.sh --current   is viewer/dist/index.html newer than its sources?
#   tools/page.sh --node      is there a Node that can build it?
#   tools/page.sh --modules   fetches the modules that it is built and tested with, if they are missing
#
# FILE is touched only when its content changes. Several may run concurrently, for several build folders. With WERROR=1 a
# page that cannot be built is an error; otherwise the last one that could be built is used.
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

# Waits for another make that builds the page; its result is used.
lock() {
    command -v flock >/dev/null || return 0
    exec 9<viewer
    flock 9
    rm -rf viewer/dist.[0-9]* # of one that was killed
}

node_is_there() {
    command -v npm >/dev/null && [ "$(node -p 'parseInt(process.versions.node) >= 18' 2>/dev/null)" = true ]
}

# What the page is built with. After a failure (most often there is no network) it is not tried again for ten minutes.
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
    # The page gets the time at which its build began: sources that change meanwhile make it stale.
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
        why="no Node (18 or later) with npm"
    elif ! modules_are_there; then
        why="npm could not fetch the modules (npm ci in viewer/ says why)"
    else
        build
    fi
    if [ -s $page ]; then
        [ -z "${why:-}" ] || say "$why: using $page, which is older than its sources"
    else
        say "${why:-it has errors}: built without the timeline page (view -o x.html, serve)"
        page=/dev/null
    fi
fi
cmp -s $page "$file" || {
    cp $page "$file.new.$$"
    mv "$file.new.$$" "$file"
}
