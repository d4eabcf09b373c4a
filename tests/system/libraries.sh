#!/bin/bash
# What the plugins show to the process that loads them: NCCL's entry points and nothing else, on top of libc alone.
set -u
fails=0
same() {
    [ "$1" = "$2" ] && return
    printf '%s: got\n%s\ninstead of\n%s\n' "$3" "$1" "$2"
    fails=$((fails + 1))
}

entries=$(printf 'ncclProfiler_v%d\n' 1 2 3 4 5 6 7)
for library in "$PLUGIN" "$NOP"; do
    same "$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort)" "$entries" "exports of $library"
    needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | grep -v '^ld-linux')
    same "$needed" "libc.so.6" "libraries that $library needs"
    if ! readelf -d "$library" | grep -q 'Flags:.*NODELETE'; then same "no NODELETE" "NODELETE" "$library"; fi
    if readelf -d "$library" | grep -q TEXTREL; then same "TEXTREL" "none" "$library"; fi
done

# The archive for NCCL_PROFILER_PLUGIN=STATIC_PLUGIN: the same entry points, found by dlsym() in the program itself, and
# no quarrel with a program that brings functions of the same names as ours and zstd's.
same "$(nm -g --defined-only "$STATIC" | awk 'NF == 3 { print $3 }' | sort)" "$entries" "globals of $STATIC"
cat >"$TMP/program.c" <<'END'
#include <dlfcn.h>
int ZSTD_compress(void), rs_fail(void);
int ZSTD_compress(void) { return 1; }
int rs_fail(void) { return 2; }
int main(void) { return dlsym(dlopen(0, RTLD_NOW), "ncclProfiler_v4") == 0 || ZSTD_compress() + rs_fail() != 3; }
END
if ! $CC "$TMP/program.c" -Wl,--whole-archive "$STATIC" -Wl,--no-whole-archive -rdynamic -lpthread -ldl -o "$TMP/program" ||
    ! "$TMP/program"; then
    same "a program with the static plugin failed" "one that works" "$STATIC"
fi

[ $fails = 0 ]
