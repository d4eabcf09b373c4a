#!/bin/bash
# Completion in bash, zsh and fish: commands, options and values come from the program, files only where files are wanted.
# The same questions are asked of each shell; those that are not installed are passed over.
# shellcheck disable=SC2317 # in_SHELL are called by name
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
here=$(cd "$(dirname "$0")/../../completions" && pwd)
bin=$(cd "$(dirname "$RINGSCOPE")" && pwd)
export PATH=$bin:$PATH
cd "$TMP" || exit 1
echo x >afile.rsc

in_bash() { # WORD...: the last is to be completed
    # shellcheck disable=SC2016 # the inner shell expands
    bash -c 'source "$0/ringscope.bash"
        compopt() { files=yes; }
        files= COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _ringscope
        [ -n "$files" ] && mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
        printf "%s\n" "${COMPREPLY[@]}"' "$here" "$@"
}
in_zsh() { # the functions of its completion system that are used here, with the words that they would show
    # shellcheck disable=SC2016
    zsh -f -c 'compdef() { : }
        compset() { : }
        compadd() { shift; print -rl -- ${(M)@:#${words[CURRENT]}*} }
        _describe() { local -a all; all=(${(P)4}); all=(${all%%:*}); print -rl -- ${(M)all:#${words[CURRENT]}*} }
        _files() { print -rl -- ${words[CURRENT]}*(N) }
        _message() { : }
        source $0/ringscope.zsh
        words=("$@") CURRENT=$#
        _ringscope' "$here" "$@"
}
in_fish() {
    local line
    line=$(printf '%s ' "${@:1:$#-1}")${*: -1}
    fish --no-config -c "source $here/ringscope.fish; complete -C '$line'" 2>&1 | cut -f 1
}

asked() { # SHELL
    local in=in_$1
    is "$1: a command" "$($in ringscope repo | paste -sd' ')" report
    is "$1: all commands" "$($in ringscope '' | grep -v '^-' | sort | paste -sd' ')" "$({ ringscope --list-cmds; echo help; echo version; } | sort | paste -sd' ')"
    is "$1: help" "$($in ringscope help ru | paste -sd' ')" run
    is "$1: an option" "$($in ringscope run --print | paste -sd' ')" --print-env
    is "$1: all options" "$($in ringscope report -- | sort | paste -sd' ')" "$(ringscope report --list-opts | sort | paste -sd' ')"
    is "$1: a function" "$($in ringscope report --func AllR | paste -sd' ')" AllReduce
    is "$1: levels" "$($in ringscope view --level '' | sort | paste -sd' ')" "all net ops"
    is "$1: a format" "$($in ringscope export --format perf | paste -sd' ')" perfetto
    is "$1: by its letter" "$($in ringscope export -t perf | paste -sd' ')" perfetto
    is "$1: a workload" "$($in ringscope sim -w pipe | paste -sd' ')" pipeline
    is "$1: events" "$($in ringscope run --events n | paste -sd' ')" net
    is "$1: no files for a number" "$($in ringscope report --rank '' | grep -c .)" 0
    is "$1: files for a file" "$($in ringscope report --reference a | paste -sd' ')" afile.rsc
    is "$1: files for IN" "$($in ringscope report a | paste -sd' ')" afile.rsc
}
for shell in bash zsh fish; do
    if command -v $shell >/dev/null; then
        asked $shell
    else
        echo "$shell is not installed: not asked"
    fi
done
exit $bad
