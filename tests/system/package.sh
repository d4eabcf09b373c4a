#!/bin/bash
# What `make package` packs: which symbols it needs by its symbol tables, and that it works from another folder. The packages
# are unpacked by tar, dpkg-deb and pip.
set -u
fails=0
fail() {
    echo "line ${BASH_LINENO[1]}: $*"
    fails=$((fails + 1))
}
same() { [ "$1" = "$2" ] || fail "$3: '$1' instead of '$2'"; }
portable=$BUILD/portable
if ! [ -x "$portable/root/bin/ringscope" ]; then
    echo "a library has no static archive"
    exit 77
fi

# ---- the symbol tables ----
# newest FILE: the newest version of glibc whose symbols it needs.
newest() { objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -t . -k 1,1 -k 2,2n -k 3,3n -u | tail -n 1; }
needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | grep -v '^ld-linux' | sort | tr '\n' ' '; }
within() { # FILE LIMIT
    local version
    version=$(newest "$1")
    [ "$(printf '%s\n' "${version#GLIBC_}" "$2" | sort -V | tail -n 1)" = "$2" ] || fail "$1 needs $version, newer than $2"
}
# The check itself: this machine's own builds need newer ones.
if [ "$(printf '2.34\n%s\n' "$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)" | sort -V | head -n 1)" = 2.34 ]; then
    [ "$(within "$PLUGIN" 2.17 2>&1)" ] || fail "$PLUGIN seems to need nothing newer than 2.17"
fi
recorder=$portable/root/lib/libnccl-profiler-ringscope.so
within "$portable/root/bin/ringscope" 2.28
within "$recorder" 2.17
within "$portable/root/lib/libnccl-profiler-ringscope-nop.so" 2.17
same "$(needed "$portable/root/bin/ringscope")" "libc.so.6 libdl.so.2 libm.so.6 libpthread.so.0 " "libraries of the program"
same "$(needed "$recorder")" "libc.so.6 libdl.so.2 libpthread.so.0 " "libraries of the plugin"
entries() { nm -D --defined-only "$1" | awk '{ print $3 }' | sort; }
same "$(entries "$recorder")" "$(entries "$PLUGIN")" "exports of the plugin"

# ---- the version, written once more in the recipes ----
version=$(sed -n 's/^VERSION := //p' Makefile)
same "$(sed -n 's/.*set version = "\(.*\)".*/\1/p' contrib/conda-forge/meta.yaml)" "$version" "conda-forge"
same "$(sed -n 's/^ *version("\(.*\)").*/\1/p' contrib/spack/spack_repo/*/packages/ringscope/package.py)" "$version" "Spack"

# ---- the packages ----
parts=$("$RINGSCOPE" --version | awk '$2 == "on" { print toupper($1) }')
cp -r "$portable/root" "$TMP/root"
tools/package/pack.sh "$TMP/root" 9.8.7 "XXHASH LIBGCC ${parts//$'\n'/ }" "$TMP/packages" >"$TMP/made" 2>"$TMP/err" || fail "$(cat "$TMP/err")"
cd "$TMP" || exit 1
tar -xf "packages/ringscope-9.8.7-linux-$(uname -m).tar.gz"
mkdir "any place"
mv "ringscope-9.8.7-linux-$(uname -m)" "any place/rs"
for completion in bash-completion/completions/ringscope zsh/site-functions/_ringscope fish/vendor_completions.d/ringscope.fish; do
    [ -s "any place/rs/share/$completion" ] || fail "no $completion"
done
list="any place/rs/share/doc/ringscope/ringscope.spdx.json"
inside=$(jq -r '.packages[].name | ascii_upcase' "$list")
for part in ${parts/PAGE/PREACT} XXHASH; do
    grep -qx "$part" <<<"$inside" || fail "$part is not in the SPDX list: $inside"
    [ -n "$(find "any place/rs/share/doc/ringscope/licenses" -iname "$part" -size +0)" ] || fail "no licence of $part"
done
same "$(jq '.relationships | length' "$list")" "$(jq '.packages | length' "$list")" "relationships"
# complete SHARE: all man pages and the completions.
pages=$(find "$OLDPWD/docs/man" -name "*.scd" | wc -l)
complete() {
    same "$(find "$1/man" -type f | wc -l)" "$pages" "man pages in $1"
    for each in bash-completion/completions/ringscope zsh/site-functions/_ringscope fish/vendor_completions.d/ringscope.fish; do
        [ -s "$1/$each" ] || fail "no $each in $1"
    done
}
complete "any place/rs/share"
# recorded TOOL PLUGIN: the program finds the plugin, records with it, and reads all of it.
recorded() {
    rm -rf rec
    same "$("$1" run --print-env | sed -n "s/^export NCCL_PROFILER_PLUGIN='\(.*\)'/\1/p")" "$2" "the plugin of $1"
    "$1" run -o rec -- "$1" sim --ranks 2 --steps 2 -o rec >sim.out 2>&1 || fail "$(cat sim.out)"
    for command in ops report comms; do
        cmp <("$1" $command --json rec) <("$RINGSCOPE" $command --json rec) || fail "$1 $command differs"
    done
    [ "$("$RINGSCOPE" ops --json rec | wc -l)" -gt 0 ] || fail "$1: nothing was recorded"
}
recorded "$TMP/any place/rs/bin/ringscope" "$TMP/any place/rs/lib/libnccl-profiler-ringscope.so"

if command -v dpkg-deb >/dev/null; then
    deb=$(echo packages/*.deb)
    same "$(dpkg-deb -f "$deb" Version Depends | tr '\n' ' ')" "Version: 9.8.7 Depends: libc6 (>= 2.17) " "the .deb"
    dpkg-deb -x "$deb" debian
    cmp "debian/usr/bin/ringscope" "any place/rs/bin/ringscope" || fail "the program of the .deb"
    (cd debian && dpkg-deb -e "../$deb" ../control && md5sum --quiet -c ../control/md5sums) || fail "md5sums of the .deb"
    complete debian/usr/share
fi

if python3 -m pip --version >/dev/null 2>&1; then
    python3 -m pip install -q --no-index --no-deps --no-warn-script-location --prefix "$TMP/env" packages/*.whl >pip.out 2>&1 || fail "$(cat pip.out)"
    tool=$(find "$TMP/env" -path '*/bin/ringscope') # Debian's Python adds "local"
    complete "${tool%/bin/ringscope}/share"
    recorded "$tool" "${tool%/bin/ringscope}/lib/libnccl-profiler-ringscope.so"
fi
[ $fails = 0 ]
