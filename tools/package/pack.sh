#!/bin/bash
# Packs what was installed below ROOT (`make package`): a tarball that runs from any folder, a Debian package and a Python
# wheel. All files have the time of the last commit: the same files give the same packages.
#
#   tools/package/pack.sh ROOT VERSION 'PARTS' OUTPUT
#
# Adds to ROOT/share/doc/ringscope the licences and the list of what is inside (SPDX) of the PARTS, which
# tools/package/parts describes.
set -euo pipefail
root=$(realpath "$1")
version=$2
parts=$3
mkdir -p "$4"
output=$(realpath "$4")
cd "$(dirname "$0")/../.."
machine=$(uname -m)
when=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile)
summary="Recorder and analyser for NCCL: which rank is slow, who waits, why a job hangs"

fail() {
    echo "package: $*" >&2
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- licences and the list of what is inside ----

doc=$root/share/doc/ringscope
mkdir -p "$doc/licenses"
cp LICENSE NEWS.md "$doc/"
strip --strip-debug "$root"/lib/*.a

# version_of SOURCE: of pkg-config's module, of the compiler, of a module of the page.
version_of() {
    case $1 in
    npm:*) sed -n 's/^ *"version": "\(.*\)".*/\1/p' "viewer/node_modules/${1#npm:}/package.json" ;;
    gcc) gcc -dumpfullversion ;;
    *) pkg-config --modversion "$1" ;;
    esac
}
licence_of() { # SOURCE PACKAGE
    case $1 in
    npm:*) echo "viewer/node_modules/${1#npm:}/LICENSE" ;;
    *) echo "/usr/share/doc/$2/copyright" ;;
    esac
}
spdx_package() { # NAME VERSION LICENCE [HOME]
    printf '{"SPDXID": "SPDXRef-%s", "name": "%s", "versionInfo": "%s", "downloadLocation": "NOASSERTION",%s\n' \
        "$1" "$1" "$2" "${4:+ \"homepage\": \"$4\",}"
    printf '   "filesAnalyzed": false, "licenseConcluded": "%s", "licenseDeclared": "%s", "copyrightText": "NOASSERTION"}' "$3" "$3"
}
{
    cat <<SPDX
{"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
 "name": "ringscope-$version-linux-$machine",
 "documentNamespace": "https://spdx.org/spdxdocs/ringscope-$version-linux-$machine-$when",
 "creationInfo": {"created": "$(date -u -d "@$when" +%Y-%m-%dT%H:%M:%SZ)", "creators": ["Tool: ringscope-tools-package"]},
 "packages": [
SPDX
    printf '  '
    spdx_package ringscope "$version" Apache-2.0
    relations='{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-ringscope"}'
    while IFS='|' read -r part name licence url source package; do
        read -r part name url source package <<<"$part $name $url $source $package"
        licence=${licence# }
        licence=${licence%"${licence##*[! ]}"}
        case " $parts " in *" $part "*) ;; *) continue ;; esac
        text=$(licence_of "$source" "$package")
        [ -s "$text" ] || fail "the licence of $name is not at $text"
        cp "$text" "$doc/licenses/$name"
        printf ',\n  '
        spdx_package "$name" "$(version_of "$source")" "$licence" "$url"
        relations+=$',\n  {"spdxElementId": "SPDXRef-ringscope", "relationshipType": "CONTAINS", "relatedSpdxElement": "SPDXRef-'$name'"}'
    done < <(grep -v '^#' tools/package/parts)
    printf '],\n "relationships": [\n  %s]}\n' "$relations"
} >"$doc/ringscope.spdx.json"
chmod -R u+rwX,go=rX "$root"
find "$root" -exec touch -h -d "@$when" {} +

# ---- the tarball ----

name=ringscope-$version-linux-$machine
tar -c -C "$root" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$when" --transform "s,^\.,$name,S" . |
    gzip -n >"$work/$name.tar.gz"
mv "$work/$name.tar.gz" "$output/"
echo "$output/$name.tar.gz"

# ---- the Debian package: the same files below /usr ----

if command -v dpkg-deb >/dev/null; then
    architecture=$(dpkg --print-architecture)
    mkdir -p "$work/deb/DEBIAN" "$work/deb/usr"
    cp -a "$root"/. "$work/deb/usr/"
    gzip -n -9 "$work"/deb/usr/share/man/man*/*
    cat >"$work/deb/DEBIAN/control" <<CONTROL
Package: ringscope
Version: $version
Architecture: $architecture
Maintainer: ${DEBFULLNAME:-The ringscope developers} <${DEBEMAIL:-ringscope@localhost}>
Installed-Size: $(du -sk "$work/deb/usr" | cut -f 1)
Depends: libc6 (>= 2.17)
Suggests: libcairo2
Section: devel
Priority: optional
Description: $summary
 A NCCL profiler plugin that records every callback, and a program that joins
 the recordings of all ranks, or traces of other tools, and reports.
CONTROL
    (cd "$work/deb" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    chmod -R go=rX "$work/deb"
    SOURCE_DATE_EPOCH=$when dpkg-deb --root-owner-group -Zgzip --build "$work/deb" "$output/ringscope_${version}_$architecture.deb" >/dev/null
    echo "$output/ringscope_${version}_$architecture.deb"
else
    echo "package: no dpkg-deb, no .deb" >&2
fi

# ---- the wheel ----

if command -v python3 >/dev/null; then
    python3 tools/package/wheel.py "$root" "$version" "$machine" "$when" "$summary" "$output"
else
    echo "package: no python3, no wheel" >&2
fi
