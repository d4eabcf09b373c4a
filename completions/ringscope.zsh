#compdef ringscope
# Completion of ringscope for zsh. Commands, options and values are asked of the program itself (--complete).

_ringscope() {
    local program=${words[1]} command=${words[2]} before=${words[CURRENT - 1]} line
    local -a lines fields items
    if (( CURRENT == 2 )) || { [[ $command == help ]] && (( CURRENT == 3 )) }; then
        for line in ${(f)"$($program --complete 2>/dev/null)"}; do
            fields=("${(@ps:\t:)line}")
            items+=("${fields[1]}:${fields[2]//:/\\:}")
        done
        _describe -t commands command items
        return
    fi
    local -i end=${words[(i)--]}
    if (( end < CURRENT )); then # what follows -- belongs to the command that `ringscope run` runs
        shift end words
        (( CURRENT -= end ))
        _normal
        return
    fi
    lines=(${(f)"$($program $command --complete 2>/dev/null)"})
    if [[ ${words[CURRENT]} == --*=* ]]; then
        before=${words[CURRENT]%%=*}
        compset -P '*='
    fi
    if [[ $before == -* ]]; then
        for line in $lines; do
            fields=("${(@ps:\t:)line}")
            [[ $before == ${fields[1]} || $before == ${fields[2]} ]] || continue
            [[ ${fields[3]} == - ]] && break
            if [[ ${fields[4]} != - ]]; then
                compset -P '*,'
                compadd -- ${(s: :)fields[4]}
            elif [[ ${fields[3]} == *(FILE|DIR|OUT)* ]]; then
                _files
            else
                _message -r "${fields[3]}: ${fields[5]}"
            fi
            return
        done
    fi
    if [[ ${words[CURRENT]} == -* ]]; then
        for line in $lines; do
            fields=("${(@ps:\t:)line}")
            items+=("${fields[1]}:${fields[5]//:/\\:}")
        done
        _describe -t options option items
    else
        _files
    fi
}

# Loaded by compinit as a function file, or sourced.
if [[ ${funcstack[1]-} == _ringscope ]]; then _ringscope "$@"; else compdef _ringscope ringscope; fi
