#!/bin/bash
# Adds inputs that were found to those a fuzzer begins with, and keeps the fewest that reach as much.
#
#   tests/fuzz/minimise.sh FUZZER [FOLDER...]
#
# FUZZER is build/asan/fuzz_X; its inputs are in tests/data/fuzz/X.tar.gz. Those with names of their own, there or in a
# FOLDER, all stay: they showed bugs.
set -eu
fuzzer=$(realpath "$1")
shift
found=()
for folder in "$@"; do found+=("$(realpath "$folder")"); done
cd "$(dirname "$0")/../.."
inputs=tests/data/fuzz/${fuzzer##*/fuzz_}.tar.gz
TMP=$(mktemp -d "${TMPDIR:-/tmp}/ringscope-inputs.XXXXXX")
trap 'rm -rf "$TMP"' EXIT
mkdir "$TMP/old" "$TMP/new"
[ ! -e "$inputs" ] || tar -xzf "$inputs" -C "$TMP/old"
# Which code is reached, not how often: that takes ten times as many.
"$fuzzer" -set_cover_merge=1 -use_counters=0 -verbosity=0 "$TMP/new" "$TMP/old" "${found[@]}" >"$TMP/log" 2>&1 ||
    { tail -n 40 "$TMP/log" && exit 1; }
find "$TMP/old" "${found[@]}" -type f -regextype egrep ! -regex '.*/[0-9a-f]{40}' -exec cp -t "$TMP/new" {} +
(cd "$TMP/new" && tar --sort=name --mtime=@0 --mode=644 --owner=0 --group=0 --numeric-owner -cf - -- *) | gzip -n9 >"$TMP/tar"
cp "$TMP/tar" "$inputs"
printf '%s: %d inputs, %d before\n' "$inputs" "$(find "$TMP/new" -type f | wc -l)" "$(find "$TMP/old" "${found[@]}" -type f | wc -l)"
