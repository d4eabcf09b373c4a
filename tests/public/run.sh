#!/bin/bash
# Public traces of other people's jobs: what ringscope says of each, against tests/public/list.
#
#   PUBLIC=DIR tests/public/run.sh
#
# DIR has clones of the repositories in the list (any of DIR/OWNER/NAME, DIR/OWNER+NAME, DIR/NAME, bare or not; a folder
# `repo` in these is looked at, too). Without PUBLIC they are cloned if PUBLIC_CLONE=1. Where none can be had, the test
# is skipped. PUBLIC_LIST=FILE is another list. A file that a clone does not have is counted and left out. Nothing of the traces is kept.
#
# Overlap is compared with the list (whole us, as Holistic Trace Analysis has it, to 0.01 %) and with overlap.py beside
# this script, which computes it from the JSON alone (to the ns, to 0.001 %).
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/said.sh
source "$here/../said.sh"
work=${TMP:-$(mktemp -d)}
RINGSCOPE=${RINGSCOPE:-build/ringscope}
command -v python3 >/dev/null || { echo "python3 is not there"; exit 77; }

git_of() { # OWNER/NAME: the git directory
    local name=${1#*/} d
    for d in "${PUBLIC:-}"/{"$1","${1/\//+}","$name"}{,/repo,/.git,.git}; do
        [ -n "${PUBLIC:-}" ] && [ -f "$d/HEAD" ] && echo "$d" && return
    done
    [ "${PUBLIC_CLONE:-}" = 1 ] || return 1
    [ -d "$work/clones/$1" ] || git clone -q --bare --filter=blob:none "https://github.com/$1" "$work/clones/$1" || return 1
    echo "$work/clones/$1"
}

get() { # GIT COMMIT PATH[!MEMBER] FOLDER: the files of a row
    local path=${3%%!*} member=
    case $3 in *!*) member=${3#*!} ;; esac
    mkdir -p "$4"
    git --git-dir="$1" show "$2:$path" >"$4/$(basename "$path")" 2>/dev/null || return 1
    [ -n "$member" ] || return 0
    tar -xzf "$4/$(basename "$path")" -C "$4" --wildcards "$member" 2>/dev/null && rm "$4/$(basename "$path")"
}

compare() { # NAME RANKS OPERATIONS OVERLAP FILE...
    local name=$1 ranks=$2 operations=$3 overlap=$4
    shift 4
    is "$name: ranks" "$("$RINGSCOPE" info --json "$@" 2>/dev/null | jq '.ranks | length')" "$ranks"
    is "$name: operations" "$("$RINGSCOPE" ops --json "$@" 2>/dev/null | jq -s length)" "$operations"
    "$RINGSCOPE" overlap --json "$@" 2>/dev/null >"$work/overlap"
    is "$name: overlap" "$(jq -s -r 'map(.overlap_pct | if . == null then "-" else . * 100 + 0.5 | floor / 100 end) | join(",")' \
        "$work/overlap")" "$overlap"
    python3 "$here/overlap.py" "$@" | sort -n | awk '{print $4}' >"$work/truth"
    is "$name: overlap of the JSON" "$(jq -r '.exact.overlap_pct // "-"' "$work/overlap" | paste - "$work/truth" | awk '
        $1 == "-" || $2 == "-" ? $1 != $2 : ($1 - $2) ^ 2 > 1e-6 {print}')" ""
}

declare -A commits
tried=0 missing=0
while IFS=$'\t' read -r what repo path ranks operations expect; do
    case $what in
    '' | '#'*) continue ;;
    commit)
        commits[$repo]=$path
        continue
        ;;
    esac
    folder=$work/files/$((tried + missing))
    if ! git=$(git_of "$repo") || ! get "$git" "${commits[$repo]}" "$path" "$folder"; then
        missing=$((missing + 1))
        continue
    fi
    tried=$((tried + 1))
    mapfile -t files < <(find "$folder" -type f | sort)
    if [ "$what" = refused ]; then
        is "$repo $path" "$("$RINGSCOPE" info "${files[@]}" 2>&1 >/dev/null | grep -c "$expect")" 1
    else
        compare "$repo $path" "$ranks" "$operations" "$expect" "${files[@]}"
    fi
    rm -rf "$folder"
done <"${PUBLIC_LIST:-$here/list}"
echo "$tried public traces compared, $missing not to be had"
[ "$tried" -gt 0 ] || { echo "no public trace to be had (PUBLIC=DIR names clones, PUBLIC_CLONE=1 clones them)"; exit 77; }
exit "$bad"
