#!/bin/sh
# Finds out what the compiler and the installed libraries can do; prints Makefile lines.
# Called by the Makefile with CC, CPPFLAGS, LDFLAGS, WITHOUT (libraries to leave out) and KNOBS (everything else that makes
# objects stale) in the environment.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2086 # CC and the flags are lists of words
try() {
    $CC ${CPPFLAGS:-} "$@" ${LDFLAGS:-} -o "$work/out" >/dev/null 2>&1
}

need() {
    echo "ringscope: $1" >&2
    exit 1
}

echo 'int rs_probe(void); int rs_probe(void) { return 0; }' >"$work/empty.c"
try -c "$work/empty.c" ||
    need "no working C compiler ($CC): install one (Debian: gcc libc6-dev), or name it with CC="
try -include xxhash.h -c "$work/empty.c" ||
    need "<xxhash.h> not found: install xxHash's header (Debian: libxxhash-dev), or say where it is with CPPFLAGS=-I"

echo "# Made by tools/config.sh. $KNOBS"

# found NAME LIBRARIES...: a library for the reader; absent NAME: RS_NO_NAME is defined. Packages contain static archives:
# SHARED_ONLY has the libraries without one.
found() {
    name=$1
    shift
    echo "$name := $*"
    echo "LIBRARIES += $*"
    for word; do
        case $word in
        -l*) archive=$($CC -print-file-name="lib${word#-l}.a") ;;
        *.a) archive=$word ;;
        *) continue ;;
        esac
        if [ -f "$archive" ]; then echo "ARCHIVES += $archive"; else echo "SHARED_ONLY += $name"; fi
    done
}
absent() {
    echo "ABSENT += -DRS_NO_$1"
}
left_out() {
    case " ${WITHOUT:-} " in *" $1 "*) return 0 ;; esac
    return 1
}

# library NAME HEADER EXPRESSION LIBRARIES...: whether a program with the expression can be built.
library() {
    name=$1 header=$2
    echo "int main(void) { return $3; }" >"$work/$name.c"
    shift 3
    if ! left_out "$name" && try -include "$header" "$work/$name.c" "$@"; then found "$name" "$@"; else absent "$name"; fi
}

# zstd must be a static archive: the plugin contains its own copy. With hidden symbols (--exclude-libs) an archive compiled for
# position-independent executables, as Debian's is, can be linked into a shared object.
echo 'size_t f(void *d, const void *s); size_t f(void *d, const void *s) { return ZSTD_compress(d, 1, s, 1, 1); }' \
    >"$work/zstd.c"
zstd=
for archive in "$(pkg-config --variable=libdir libzstd 2>/dev/null || true)/libzstd.a" \
    "$($CC -print-file-name=libzstd.a)"; do
    if [ -f "$archive" ] && try -shared -fPIC -Wl,--exclude-libs,ALL -include zstd.h "$work/zstd.c" "$archive"; then
        zstd=$archive
        break
    fi
done
if [ "$zstd" ] && ! left_out ZSTD; then found ZSTD "$zstd"; else absent ZSTD; fi

# For the reader only. zlib: traces of other tools. SQLite: exports of Nsight Systems, `ringscope sql`. libevent: only its core
# (sockets and timers, neither HTTP nor TLS), for `ringscope serve`. OTF2: `ringscope export`.
library ZLIB zlib.h 'zlibVersion()[0] == 0' -lz
library SQLITE sqlite3.h 'sqlite3_libversion_number() == 0' -lsqlite3
library LIBEVENT event2/event.h 'event_base_new() == 0' -levent_core
# shellcheck disable=SC2046 # a list of words
library OTF2 otf2/otf2.h 'OTF2_Archive_Close(0) == OTF2_SUCCESS' $(pkg-config --libs otf2 2>/dev/null || echo -lopen-trace-format2)

# TLS descriptors: thread-local variables of a dlopened library without a call into the loader. Targets other than
# x86-64 have them by default or not at all.
case $($CC -dumpmachine) in
x86_64*) ! try -fPIC -mtls-dialect=gnu2 -Werror -c "$work/empty.c" || echo "TLS_DIALECT := -mtls-dialect=gnu2" ;;
esac
