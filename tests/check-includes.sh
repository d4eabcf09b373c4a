#!/bin/bash
# The rule of src/folders: each folder may include only itself and what its row names; a folder inside another (a format)
# not its siblings. Outside of src/foreign no tool is named. Lists every line that breaks a rule.
set -u
cd "$(dirname "$0")/.." || exit 1

root=${1:-src} # another tree for the test of this test
declare -A below
while IFS='|' read -r name may _; do
    read -r name <<<"$name"
    case $name in '' | '#'*) continue ;; esac
    read -ra may <<<"$may"
    below[$name]=${may[*]}
done <src/folders
bad=0
while IFS=: read -r file line text; do
    inside=${file#"$root"/}
    name=${inside%%/*}
    if [ -z "${below[$name]+known}" ]; then
        echo "$file: no row for this folder in src/folders"
        bad=1
        continue
    fi
    path=${text#*\"}
    path=${path%%\"*}
    target=${path%%/*}
    if [ "$target" = "$path" ] || [[ $path == *..* ]]; then
        echo "$file:$line: \"$path\" is not of the form \"folder/file.h\""
        bad=1
    elif [[ " $name ${below[$name]} " != *" $target "* ]]; then
        echo "$file:$line: $name must not include \"$path\" (it may: ${below[$name]:-nothing})"
        bad=1
    elif [ "$target" = "$name" ] && [[ $inside == */*/* && $path == */*/* ]] && [ "${inside%/*}" != "${path%/*}" ]; then
        echo "$file:$line: ${inside%/*} must not include \"$path\" of its sibling"
        bad=1
    fi
done < <(find "$root" -name '*.[ch]' -exec grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' {} +)
# What differs between input formats is a capability of model/tools.h: only their readers name tools.
while IFS= read -r line; do
    echo "$line: ask for a capability (model/tools.h), not for a tool"
    bad=1
done < <(grep -rnE 'RS_TOOL_[A-Z]' "$root" | grep -vE "^$root/(foreign/|model/tools\.h)" | cut -d: -f1,2)
tools/folders.sh --check || bad=1
exit $bad
