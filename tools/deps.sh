#!/bin/sh
# Installs what is missing: packages of tools/packages.txt, Node for the timeline page, and the modules that the page is built
# with. Silent and quick if nothing is missing.
#
#   tools/deps.sh demo|check
#
# Without apt-get or the right to use it: prints what is missing. The build decides whether that matters.
set -eu
cd "$(dirname "$0")/.."
for_what=${1:-check}

wanted=$(sed -e 's/#.*//' tools/packages.txt | awk -v all="$for_what" 'NF && ($2 == "" || $2 == all) { print $1 }')

# On other distributions: look for the programs and headers.
without_apt() {
    missing=
    tools="gcc ld objcopy"
    headers="zstd.h xxhash.h"
    if [ "$for_what" = check ]; then
        tools="$tools clang clang-format shellcheck scdoc jq curl chromium"
        headers="$headers cmocka.h"
    fi
    for tool in $tools; do
        command -v "$tool" >/dev/null || missing="$missing $tool"
    done
    for header in $headers; do
        echo "#include <$header>" | ${CC:-cc} -E -x c - >/dev/null 2>&1 || missing="$missing $header"
    done
    [ -z "$missing" ] || echo "deps: no apt-get; not found:$missing" >&2
}

# install PACKAGE...: those that are missing. Fails if they could not be installed.
install() {
    installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | sed -n 's/ installed$//p') || true
    missing=
    for package; do
        case "
$installed
" in
        *"
$package
"*) ;;
        *) missing="$missing $package" ;;
        esac
    done
    [ -n "$missing" ] || return 0

    as_root=
    if [ "$(id -u)" != 0 ]; then
        if ! sudo -n true 2>/dev/null; then
            echo "deps: missing, and neither root nor sudo (without a password) to install them:$missing" >&2
            return 0
        fi
        as_root="sudo -n"
    fi

    echo "deps: installing$missing"
    log=$(mktemp)
    get="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install"
    # Package lists are fetched only if the installation fails without. Not every distribution has every package.
    # shellcheck disable=SC2086 # lists of words
    if ! $get $missing </dev/null >"$log" 2>&1; then
        absent=
        if $as_root apt-get -q update </dev/null >"$log" 2>&1; then
            for package in $missing; do
                apt-cache show "$package" >/dev/null 2>&1 || absent="$absent $package"
            done
        fi
        if [ -n "$absent" ]; then
            echo "deps: not in this distribution:$absent" >&2
            for package in $absent; do missing=$(echo " $missing " | sed "s/ $package / /"); done
        fi
        if ! $get $missing </dev/null >"$log" 2>&1; then
            cat "$log" >&2
            rm -f "$log"
            echo "deps: could not install$missing" >&2
            return 1
        fi
    fi
    rm -f "$log"
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    without_apt
else
    # shellcheck disable=SC2086 # a list of words
    install $wanted

    # The page is built with Node, unless it came with the sources. Without Node everything but the page is built.
    if [ "$for_what" = check ] || ! tools/page.sh --current; then
        tools/page.sh --node || install nodejs npm || [ "$for_what" != check ]
    fi
fi
if [ "$for_what" = check ]; then tools/page.sh --modules || echo "deps: npm ci failed in viewer/" >&2; fi
