#!/bin/sh
# Finds out what the compiler and the libraries of this machine can do; prints Makefile lines.
# Called by the Makefile with CC, CPPFLAGS and KNOBS (whatever else should make the objects stale) in the environment.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2086 # CC and CPPFLAGS are lists of words
try() {
    $CC ${CPPFLAGS:-} "$@" -o "$work/out" >/dev/null 2>&1
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

# zstd must be a static archive: the plugin brings its own copy. With its symbols hidden (--exclude-libs) also an archive
# that was compiled for position-independent executables, as Debian's, fits into a shared object.
echo 'size_t f(void *d, const void *s); size_t f(void *d, const void *s) { return ZSTD_compress(d, 1, s, 1, 1); }' \
    >"$work/zstd.c"
for archive in "$(pkg-config --variable=libdir libzstd 2>/dev/null || true)/libzstd.a" \
    "$($CC -print-file-name=libzstd.a)"; do
    if [ -f "$archive" ] && try -shared -fPIC -Wl,--exclude-libs,ALL -include zstd.h "$work/zstd.c" "$archive"; then
        echo "ZSTD := $archive"
        break
    fi
done

# zlib only unpacks what other tools wrote: the reader takes it as it is, the plugin never.
echo 'int main(void) { return zlibVersion()[0] == 0; }' >"$work/zlib.c"
! try -include zlib.h "$work/zlib.c" -lz || echo "ZLIB := -lz"

# SQLite reads the exports of Nsight Systems: the reader alone, too.
echo 'int main(void) { return sqlite3_libversion_number() == 0; }' >"$work/sqlite.c"
! try -include sqlite3.h "$work/sqlite.c" -lsqlite3 || echo "SQLITE := -lsqlite3"

# Of libevent `ringscope serve` takes the core: waiting for sockets and times. Neither its HTTP nor its TLS.
echo 'int main(void) { return event_base_new() == 0; }' >"$work/libevent.c"
! try -include event2/event.h "$work/libevent.c" -levent_core || echo "LIBEVENT := -levent_core"

# OTF2 is what `ringscope export --to otf2` writes with.
otf2=$(pkg-config --libs otf2 2>/dev/null || echo -lopen-trace-format2)
echo 'int main(void) { return OTF2_Archive_Close(0) == OTF2_SUCCESS; }' >"$work/otf2.c"
# shellcheck disable=SC2086 # a list of words
! try -include otf2/otf2.h "$work/otf2.c" $otf2 || echo "OTF2 := $otf2"

# TLS descriptors: a thread's variable in a dlopened library without a call into the loader. Other targets than
# x86-64 have them by default or not at all.
case $($CC -dumpmachine) in
x86_64*) ! try -fPIC -mtls-dialect=gnu2 -Werror -c "$work/empty.c" || echo "TLS_DIALECT := -mtls-dialect=gnu2" ;;
esac
