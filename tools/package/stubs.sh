#!/bin/sh
# Makes libraries to link with in place of the C library of this machine: they offer each symbol in the newest version that
# glibc LIMIT had, in the library that had it then. A program that is linked with them needs no newer symbol, and names the
# libraries that glibc kept apart before 2.34. What LIMIT did not have at all remains undefined, or comes from old_glibc.c.
# They contain no code: at run time the real libraries are loaded, old or new.
#
#   CC=gcc tools/package/stubs.sh LIMIT FOLDER
set -eu
limit=$1
folder=$2
libraries="c m ld dl pthread rt"
mkdir -p "$folder"

# The loader has a few symbols too (__tls_get_addr; on arm64 __stack_chk_guard). Its name depends on the machine.
loader=$(readelf -dW "$($CC -print-file-name=libc.so.6)" | sed -n 's/.*(NEEDED).*\[\(ld.*\)\]/\1/p')
soname() {
    case $1 in
    c | m) echo "lib$1.so.6" ;;
    ld) echo "$loader" ;;
    dl) echo "libdl.so.2" ;;
    pthread) echo "libpthread.so.0" ;;
    rt) echo "librt.so.1" ;;
    esac
}

# Of each library of this machine: library, symbol, version, type, binding, size, address. The version begins with "@" if it
# is the default, which a linker takes.
for library in $libraries; do
    readelf -W --dyn-syms "$($CC -print-file-name="$(soname "$library")")" >"$folder/$library.dump"
    sed -n 's/@\(@*GLIBC_[0-9.]*\)\( .*\)*$/ \1/p' "$folder/$library.dump" | awk -v library="$library" '$7 != "UND" {
        print library, $8, $9, $4 == "OBJECT" ? "object" : "function", $5 == "WEAK" ? "weak" : "globl", $3, $2
    }'
done >"$folder/all"

awk -v limit="$limit" '
    function number(version,   part) {
        gsub(/[^0-9.]/, "", version)
        split(version, part, ".")
        return part[1] * 1000000 + part[2] * 1000 + part[3]
    }
    # What moved into libc.so.6 until 2.34 has a default version of that time there.
    function was_in(name) {
        if (name ~ /^dl/) return "dl"
        if (name ~ /^_?_?pthread_|^sem_/) return "pthread"
        if (name ~ /^(timer|mq|aio|lio|shm)_/) return "rt"
        return "c"
    }
    {
        key = $1 " " $2
        if (number($3) > number(limit)) {
            if ($3 ~ /^@/) newer[key] = 1
        } else if (!(key in best) || number($3) > number(best[key])) {
            best[key] = $3
            rest[key] = $4 " " $5 " " $6 " " $7
        }
    }
    END {
        for (key in best) {
            split(key, part, " ")
            sub(/^@/, "", best[key])
            print part[1] == "c" && key in newer ? was_in(part[2]) : part[1], part[2], best[key], rest[key]
        }
    }' "$folder/all" | LC_ALL=C sort >"$folder/symbols"
[ -s "$folder/symbols" ] || {
    echo "stubs.sh: no symbol of glibc $limit or older found" >&2
    exit 1
}

for library in $libraries; do
    # Objects keep their sizes, and those at one address (environ, __environ) stay at one: a program may have the copy.
    LC_ALL=C sort -k7,7 "$folder/symbols" | awk -v library="$library" '$1 == library {
        if ($4 == "function") print ".text\n.byte 0"
        else if ($7 != last) print skip ".data\n.balign 64"
        if ($4 == "object") { last = $7; skip = ".data\n.skip " $6 "\n" }
        printf ".%s \"%s\"\n.type \"%s\", %%%s\n.size \"%s\", %s\n\"%s\":\n", $5, $2, $2, $4, $2, $6, $2
    }
    END { printf "%s", skip }' >"$folder/$library.s"
    awk -v library="$library" '$1 == library { names[$3] = names[$3] " \"" $2 "\";" }
        END { for (v in names) print v " {" names[v] " };"; print "NONE { local: *; };" }' "$folder/symbols" >"$folder/$library.map"
    $CC -shared -nostdlib -Wl,-soname,"$(soname "$library")" -Wl,--version-script="$folder/$library.map" \
        -x assembler "$folder/$library.s" -o "$folder/lib$library.so"
done
