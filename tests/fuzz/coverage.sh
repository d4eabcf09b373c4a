#!/bin/bash
# What the fuzzers of the join and of the exporters reach: lines of src/join and src/export, by file and in all.
#
#   tests/fuzz/coverage.sh FOLDER_OF_FUZZERS SECONDS
#
# The fuzzers are built for it (make fuzz-coverage): without sanitizers, with the compiler's counters. Each begins with its
# corpus and runs for SECONDS more; 0: the corpus alone.
set -eu
cd "$(dirname "$0")/../.."
folder=$1 seconds=$2
TMP=$(mktemp -d "${TMPDIR:-/tmp}/ringscope-coverage.XXXXXX")
trap 'rm -rf "$TMP"' EXIT
objects=()
for name in join export changed; do
    fuzzer=$folder/fuzz_$name
    mkdir "$TMP/$name" "$TMP/$name.inputs"
    tar -xzf "tests/data/fuzz/$name.tar.gz" -C "$TMP/$name.inputs"
    how=(-runs=0)
    [ "$seconds" = 0 ] || how=("-max_total_time=$seconds" -timeout=300 "-artifact_prefix=$folder/")
    LLVM_PROFILE_FILE=$TMP/$name.profraw "$fuzzer" "${how[@]}" -entropic=0 -len_control=0 -max_len=776 -verbosity=0 "$TMP/$name" \
        "$TMP/$name.inputs" >"$TMP/$name.log" 2>&1 || { tail -n 40 "$TMP/$name.log" && exit 1; }
    objects+=(${objects:+-object} "$fuzzer") # llvm-cov: PROGRAM -object PROGRAM...
done
llvm-profdata merge -o "$TMP/all" "$TMP"/*.profraw
for part in join export; do
    llvm-cov report "${objects[@]}" -instr-profile="$TMP/all" src/$part |
        awk -v part=src/$part 'NF >= 10 && $1 ~ /[.][ch]$/ { printf "  %-36s %6d lines %8s\n", $1, $8, $10 }
             $1 == "TOTAL" { printf "%-38s %6d lines %8s\n", part, $8, $10 }'
done
