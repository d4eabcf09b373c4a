#!/bin/bash
# Runs every command line of the documents and writes what it prints into them; with --check compares instead.
#
#   tools/docs.sh [--check] [PAGE...]
#
# Pages are README.md and docs/**/*.md, of which blocks marked ```console are run, and docs/man/*.scd, of which the examples
# are. A line of a console block that begins with "$ " is a command, up to the last line that ends with a backslash; the lines
# below it are its output. A command without output below it has to succeed, no more. Comments directly above a block change
# that:
#
#   <!-- lines: 1,4 /^late ranks/,/^$/ -->   the output in parts: ranges of lines, numbers or patterns as in sed; "..." marks
#                                            what is left out
#   <!-- status: 3 -->                       the exit status of its last command
#   <!-- varies -->                          numbers in its output differ from run to run
#   <!-- not run: REASON -->                 the block is shown only; all of these are listed
#
# In a man page "; status: 3" above an example is the exit status of its last command.
#
# Each page has a folder of its own, in which its commands run in order, in one shell: tests/docs/prepare.sh fills it.
# Launchers and other programs that are not here are played by those in tests/docs/bin. RINGSCOPE, PLUGIN, BUILD and CC are
# those of the Makefile. JOBS pages at a time (1). VERBOSE=1 prints how long each command took.
set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD
check=
if [ "${1:-}" = --check ]; then
    check=1
    shift
fi
pages=("$@")
[ $# != 0 ] || mapfile -t pages < <(find README.md docs -name '*.md' -o -path 'docs/man/*.scd' | sort)
: "${BUILD:=$root/build}"
: "${RINGSCOPE:=$BUILD/ringscope}" "${PLUGIN:=$BUILD/libnccl-profiler-ringscope.so}" "${CC:=cc}"
export BUILD RINGSCOPE PLUGIN CC
work=$(mktemp -d) || exit 1
export STANDIN_ALL=$work
# Python itself: a shim of pyenv takes longer than most commands.
if python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null); then PATH=$(dirname "$python"):$PATH; fi
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 TZ=UTC COLUMNS=130 TERM=dumb NO_COLOR=1
unset "${!RINGSCOPE_@}" "${!NCCL_@}" "${!SLURM_@}" MAKEFLAGS MFLAGS MAKELEVEL RANK WORLD_SIZE PYENV_VERSION

# wrong WHAT: a fault of the page, at the line that is being read.
wrong() {
    printf '%s:%d: %s\n' "$page" "$at" "$*" >>"$into.wrong"
}

# run COMMAND STATUS: its output, with the folder's name replaced, in $into.out.
run() {
    local got begun=${EPOCHREALTIME/./}
    ran=$((ran + 1))
    # `head` ends before what it reads has been written
    case $1 in *'| head'*) set +o pipefail ;; *) set -o pipefail ;; esac
    eval "$1" >"$into.raw" 2>&1 </dev/null
    got=$?
    set +o pipefail
    [ -z "${VERBOSE:-}" ] || printf '%5d ms  %s: %s\n' $(((${EPOCHREALTIME/./} - begun) / 1000)) "$page" "$1" >>"$into.times"
    sed -e "s,$HOME,/home/me,g" -e 's/ *$//' "$into.raw" | fold_sentences >"$into.out"
    [ "$got" = "$2" ] || wrong "exit status $got instead of $2: $1
$(tail -n 5 "$into.out" | sed 's/^/    | /')"
}
# Tables and pictures stay as they are; sentences that are wider than the terminal (COLUMNS) are wrapped.
fold_sentences() {
    awk -v width="$COLUMNS" 'length($0) <= width || /  |│/ { print; next }
        { line = ""; n = split($0, word, / +/)
          for (i = 1; i <= n; i++) {
              if (line != "" && length(line) + length(word[i]) > 109) { print line; line = "" }
              line = line (line == "" ? "" : " ") word[i]
          }
          print line }'
}
# parts RANGES: of $into.out the lines in these ranges, and "..." for the others between them.
parts() {
    local range
    : >"$into.chosen"
    for range in $1; do
        sed -n "${range//\~/ }=" "$into.out" >>"$into.chosen"
        sed -n "${range//\~/ }=" "$into.out" | grep -q . || wrong "lines: $range is in no line of the output of: $2"
    done
    awk 'NR == FNR { on[$1] = 1; next }
        on[FNR] && $0 == "" { empty = 1; next }
        on[FNR] { if (skipped) print "..."; else if (empty) print ""; skipped = empty = 0; print; next }
        { skipped = 1 }
        END { if (skipped) print "..." }' "$into.chosen" "$into.out"
}
shape() { sed -E 's/[0-9][0-9.,]*( [num]?s)?\>/#/g; s/ +/ /g'; }

# One page of Markdown: writes it anew to $into.
markdown() {
    local line command output i inside='' ranges='' status=0 varies='' unrun='' body=()
    while IFS= read -r line || [ -n "$line" ]; do
        at=$((at + 1))
        if [ -z "$inside" ]; then
            printf '%s\n' "$line"
            case $line in
            '<!-- lines: '*' -->') ranges=${line#'<!-- lines: '} ranges=${ranges%' -->'} ;;
            '<!-- status: '*' -->') status=${line#'<!-- status: '} status=${status%' -->'} ;;
            '<!-- varies -->') varies=1 ;;
            '<!-- not run: '*' -->') unrun=${line#'<!-- not run: '} unrun=${unrun%' -->'} ;;
            '```console') inside=1 body=() ;;
            '```') inside=other ;;
            '```'*) inside=other ;;
            '    ringscope '* | '    $ '*) wrong "a command that is not run: mark it as console" ;;
            *) ranges='' status=0 varies='' unrun='' ;;
            esac
            continue
        fi
        if [ "$line" != '```' ]; then
            if [ $inside = 1 ]; then body+=("$line"); else printf '%s\n' "$line"; fi
            [ $inside = 1 ] || [[ $line != '$ '* ]] || wrong "a command that is not run: mark the block as console"
            continue
        fi
        if [ $inside = 1 ] && [ "$unrun" ]; then
            printf '%s:%d: not run: %s\n' "$page" "$at" "$unrun" >>"$into.unrun"
            printf '%s\n' "${body[@]}"
        elif [ $inside = 1 ]; then
            i=0
            [[ ${body[0]:-} == '$ '* ]] || wrong "the block does not begin with a command"
            while [ $i -lt ${#body[@]} ]; do
                command=${body[i]#'$ '}
                printf '%s\n' "${body[i]}"
                i=$((i + 1))
                while [[ $command == *\\ ]] && [ $i -lt ${#body[@]} ]; do
                    printf '%s\n' "${body[i]}"
                    command=${command%\\}${body[i]}
                    i=$((i + 1))
                done
                output=()
                while [ $i -lt ${#body[@]} ] && [[ ${body[i]} != '$ '* ]]; do
                    output+=("${body[i]}")
                    i=$((i + 1))
                done
                if [ $i = ${#body[@]} ]; then run "$command" "$status"; else run "$command" 0; fi
                [ ${#output[@]} != 0 ] || continue
                if [ -n "$ranges" ]; then parts "$ranges" "$command"; else cat "$into.out"; fi >"$into.new"
                printf '%s\n' "${output[@]}" >"$into.old"
                # an empty line between two commands is not output
                if [ $i -lt ${#body[@]} ] && [ "${output[-1]}" = "" ]; then echo >>"$into.new"; fi
                if [ "$varies" ] && cmp -s <(shape <"$into.old") <(shape <"$into.new"); then cat "$into.old"; else cat "$into.new"; fi
            done
        fi
        printf '%s\n' "$line"
        inside='' ranges='' status=0 varies='' unrun=''
    done
}

# The examples of a man page, which show no output: they are run only.
manual() {
    local line status=0 examples='' more='' command
    while IFS= read -r line || [ -n "$line" ]; do
        at=$((at + 1))
        printf '%s\n' "$line"
        case $line in
        '# EXAMPLES') examples=1 ;;
        '# '*) examples= ;;
        '; status: '*) status=${line#'; status: '} status=${status%% *} ;;
        esac
        [ "$examples" ] || continue
        if [ "$more" ] || [[ $line == $'\t'* ]]; then
            command=${line#$'\t'}
            more=
            if [[ $command == *++ ]]; then more=1 command=${command%++}; fi
            # shellcheck disable=SC2001 # what is behind a backslash stays
            command=$(sed 's/\\\(.\)/\1/g' <<<"$command")
            if [ "$more" ]; then run "$command" 0; else run "$command" "$status" && status=0; fi
        fi
    done
}

# one PAGE: in a folder and a shell of its own.
one() {
    local page=$1 file at=0 ran=0 folder into=$work/results/${1//\//_}
    folder=$work/${1//\//_}
    file=$(realpath "$page")
    mkdir -p "$folder" "$work/results"
    (
        cd "$folder" || exit 1
        export HOME=$folder TMPDIR=$work STANDIN_STATE=$work/state.${1//\//_}
        mkdir -p "$STANDIN_STATE"
        # shellcheck source=tests/docs/prepare.sh
        source "$root/tests/docs/prepare.sh" || wrong "tests/docs/prepare.sh failed"
        case $page in
        *.scd) manual ;;
        *) markdown ;;
        esac <"$file" >"$into"
        if [ "$check" ]; then
            diff -u --label "$page" --label "what its commands print now" "$file" "$into" >"$into.diff" ||
                sed -n '1,60p' "$into.diff" >>"$into.wrong"
        else
            cmp -s "$file" "$into" || cat "$into" >"$file"
        fi
        echo "$ran" >"$into.ran"
    )
}

for page in "${pages[@]}"; do
    # Pages without a command need no folder.
    grep -qE '^```console|^# EXAMPLES|^    ringscope |^\$ ' "$page" || continue
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do wait -n; done
    one "$page" &
done
wait
cat "$work"/results/*.unrun 2>/dev/null
awk '{ n += $1; pages++ } END { printf "%d commands of %d pages\n", n, pages }' "$work"/results/*.ran
[ -z "${VERBOSE:-}" ] || sort -rn "$work"/results/*.times
if cat "$work"/results/*.wrong 2>/dev/null; then
    [ -z "$check" ] || echo "make docs writes the output of all commands anew"
    exit 1
fi
