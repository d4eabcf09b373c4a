#!/bin/sh
# Packs the tracked files and the built timeline page into FOLDER/NAME.tar.gz, which builds without Node and without a
# network. All files have the time of the last commit: the same commit gives the same bytes.
#
#   tools/dist.sh FOLDER NAME
set -eu
cd "$(dirname "$0")/.."
folder=$1
name=$2
page=viewer/dist/index.html

[ -e .git ] || {
    echo "dist: not a git repository: the tarball contains the tracked files" >&2
    exit 1
}
mkdir -p "$folder"
WERROR=1 tools/page.sh "$folder/page.html"
[ -s "$folder/page.html" ] || {
    echo "dist: the timeline page could not be built" >&2
    exit 1
}
list=$folder/$name.list
trap 'rm -f "$list" "$folder/$name.tar.new" "$folder/$name.tar.gz.new"' EXIT
{
    git ls-files
    echo $page
} >"$list"
tar -c -f "$folder/$name.tar.new" -T "$list" --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw,a-s \
    --mtime="@$(git log -1 --format=%ct)" --transform "s,^,$name/,S"
gzip -n -9 <"$folder/$name.tar.new" >"$folder/$name.tar.gz.new"
mv "$folder/$name.tar.gz.new" "$folder/$name.tar.gz"
echo "$folder/$name.tar.gz"
