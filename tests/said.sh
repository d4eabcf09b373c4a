# shellcheck shell=bash
# shellcheck disable=SC2034 # bad is read by the scripts that source it
# Comparisons for tests/system/*.sh, which source it and end with `exit $bad`.
bad=0

is() { # WHAT GOT WANTED
    if [ "$2" != "$3" ]; then
        echo "$1: $2, not $3"
        bad=1
    fi
}
