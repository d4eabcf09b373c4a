# Completion of ringscope for bash: commands and options are asked of the program itself.
_ringscope() {
    local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} i
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" --list-cmds 2>/dev/null) help --help --version" -- "$word")
        return
    fi
    if [ "${COMP_WORDS[1]}" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" --list-cmds 2>/dev/null)" -- "$word")
        return
    fi
    # What follows -- belongs to the command that `ringscope run` runs.
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [ "${COMP_WORDS[i]}" = -- ]; then
            if declare -F _command_offset >/dev/null; then _command_offset $((i + 1)); else compopt -o default; fi
            return
        fi
    done
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" "${COMP_WORDS[1]}" --list-opts 2>/dev/null)" -- "$word")
    else
        compopt -o default
    fi
}
complete -F _ringscope ringscope
