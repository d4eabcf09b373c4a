#!/bin/sh
# Installs what tools/packages.txt names and this machine lacks. Silent and quick when nothing is missing.
# Without apt-get or the right to use it: says what is missing, and leaves it to the build whether that matters.
set -eu
cd "$(dirname "$0")/.."

wanted=$(sed -e 's/#.*//' tools/packages.txt)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    # Some other distribution: look for the programs and headers themselves.
    missing=
    for tool in gcc ld objcopy clang clang-format shellcheck scdoc; do
        command -v "$tool" >/dev/null || missing="$missing $tool"
    done
    for header in zstd.h xxhash.h cmocka.h; do
        echo "#include <$header>" | ${CC:-cc} -E -x c - >/dev/null 2>&1 || missing="$missing $header"
    done
    [ -z "$missing" ] || echo "deps: no apt-get here; not found:$missing" >&2
    exit 0
fi

# shellcheck disable=SC2086 # a list of words
installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null | sed -n 's/ installed$//p') || true
missing=
for package in $wanted; do
    case "
$installed
" in
    *"
$package
"*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "deps: missing, and neither root nor sudo to install with:$missing" >&2
        exit 0
    fi
    as_root="sudo -n"
fi

echo "deps: installing$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $missing"
# The package lists may be there and fresh enough; fetch them only when the first try shows that they are not.
if ! $install </dev/null >"$log" 2>&1; then
    if ! { $as_root apt-get -q update && $install; } </dev/null >"$log" 2>&1; then
        cat "$log" >&2
        echo "deps: could not install$missing" >&2
        exit 1
    fi
fi
