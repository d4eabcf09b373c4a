#!/bin/bash
# The rule of the folders: each may include only itself and what is below it. Names every line that breaks it.
set -u
cd "$(dirname "$0")/.." || exit 1

declare -A below=(
    [base]=""
    [nccl]="base"
    [format]="base nccl"
    [plugin]="format nccl base"
    [trace]="format nccl base"
    [model]="nccl base"
    [import]="model trace format nccl base"
    [foreign]="import model trace format nccl base"
    [join]="model nccl base"
    [analyse]="join model nccl base"
    [explain]="nccl base"
    [events]="foreign import model trace format nccl base"
    [timeline]="events explain join model trace format nccl base"
    [bundle]="timeline join model base"
    [picture]="timeline model base"
    [serve]="base"
    [export]="timeline events analyse join foreign model trace format nccl base"
    [sim]="nccl base"
    [gen]="format nccl base"
    [cli]="gen sim export serve picture bundle timeline events explain analyse join foreign import model trace format nccl base"
)
root=${1:-src} # another tree for the test of this test
bad=0
for folder in "$root"/*/; do
    name=$(basename "$folder")
    if [ -z "${below[$name]+known}" ]; then
        echo "$folder: no rule for this folder in tests/check-includes.sh"
        bad=1
        continue
    fi
    allowed=" $name ${below[$name]} "
    while IFS=: read -r file line text; do
        path=${text#*\"}
        path=${path%%\"*}
        target=${path%%/*}
        if [ "$target" = "$path" ] || [[ $path == *..* ]]; then
            echo "$file:$line: \"$path\" is not of the form \"folder/file.h\""
            bad=1
        elif [[ $allowed != *" $target "* ]]; then
            echo "$file:$line: $name must not include \"$path\" (it may: ${below[$name]:-nothing})"
            bad=1
        fi
    done < <(grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$folder"*.[ch] 2>/dev/null)
done
exit $bad
