#!/bin/bash
# The tarball of `make dist`: all tracked files and the page, which the program takes from it on a machine without Node.
set -eu
root=$PWD
if ! [ -e .git ] || ! git rev-parse HEAD >/dev/null 2>&1 || ! tools/page.sh --current; then
    echo "no git repository, or no page that is newer than its sources"
    exit 77
fi
tools/dist.sh "$TMP" ringscope-test >/dev/null
cd "$TMP"
gzip -dc ringscope-test.tar.gz | tar -x
cd ringscope-test
diff <(git -C "$root" ls-files | sort) <(find . ! -type d | sed 's,^\./,,' | grep -vx viewer/dist/index.html | sort)
cmp viewer/dist/index.html "$root/viewer/dist/index.html"

# Without Node, and without a repository around it.
mkdir "$TMP/bin"
ln -s /usr/bin/* "$TMP/bin/"
rm -f "$TMP"/bin/{node,nodejs,npm,npx}
export PATH=$TMP/bin
if command -v node; then exit 1; fi
${MAKE:-make} --no-print-directory CC="$CC" BUILD=made made/obj/src/bundle/page.o >"$TMP/log" 2>&1
cmp made/page.html viewer/dist/index.html
cat >"$TMP/main.c" <<'END'
#include <stdio.h>
#include "bundle/page.h"
int main(void)
{
    size_t bytes;
    const char *page = rs_page(&bytes);
    return page == NULL || fwrite(page, 1, bytes, stdout) != bytes;
}
END
$CC -Isrc "$TMP/main.c" made/obj/src/bundle/page.o -o "$TMP/main"
"$TMP/main" | cmp - viewer/dist/index.html

# A page that is not there: all else is built, and one line says so. Nor is anything made anew for nothing.
touch made/stamp
${MAKE:-make} --no-print-directory CC="$CC" BUILD=made made/obj/src/bundle/page.o >>"$TMP/log" 2>&1
[ -z "$(find made/page.html made/obj -newer made/stamp)" ]
rm viewer/dist/index.html
${MAKE:-make} --no-print-directory CC="$CC" BUILD=made made/obj/src/bundle/page.o >"$TMP/log" 2>&1
[ "$(grep -c '^page: no Node .* built without the timeline page' "$TMP/log")" = 1 ]
$CC -Isrc "$TMP/main.c" made/obj/src/bundle/page.o -o "$TMP/main"
if "$TMP/main" >"$TMP/page"; then exit 1; fi
[ ! -s "$TMP/page" ]
