# Completion of ringscope for bash. Commands, options and values are asked of the program itself (--complete).

# The values of an option, or a word for what its argument is: NAME or LETTER of the option, rest of the line on stdin.
_ringscope_values() {
    local name letter argument values _
    while IFS=$'\t' read -r name letter argument values _; do
        [ "$1" = "$name" ] || [ "$1" = "$letter" ] || continue
        [ "$argument" = - ] && return 1
        if [ "$values" != - ]; then
            printf '%s\n' "$values"
        else
            case $argument in *FILE* | *DIR* | *OUT*) echo @files ;; *) echo @nothing ;; esac
        fi
        return 0
    done
    return 1
}

_ringscope() {
    local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} command=${COMP_WORDS[1]-} before=${COMP_WORDS[COMP_CWORD - 1]}
    local i options values list=
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ] || { [ "$command" = help ] && [ "$COMP_CWORD" -eq 2 ]; }; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" --complete 2>/dev/null | cut -f 1) --help --version" -- "$word")
        return
    fi
    # What follows -- belongs to the command that `ringscope run` runs.
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [ "${COMP_WORDS[i]}" = -- ]; then
            if declare -F _command_offset >/dev/null; then _command_offset $((i + 1)); else compopt -o default; fi
            return
        fi
    done
    options=$("$program" "$command" --complete 2>/dev/null)
    # "--name=value" comes as three words.
    [ "$word" = "=" ] && word= && before=${COMP_WORDS[COMP_CWORD - 1]}
    [ "$before" = "=" ] && before=${COMP_WORDS[COMP_CWORD - 2]}
    if [[ $before == -* ]] && values=$(_ringscope_values "$before" <<<"$options"); then
        case $values in
        @files) compopt -o default ;;
        @nothing) ;;
        *)
            [[ $word == *,* ]] && list=${word%,*},
            mapfile -t COMPREPLY < <(compgen -P "$list" -W "$values" -- "${word##*,}")
            ;;
        esac
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(cut -f 1 <<<"$options")" -- "$word")
    else
        compopt -o default
    fi
}
complete -F _ringscope ringscope
