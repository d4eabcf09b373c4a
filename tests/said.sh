# shellcheck shell=bash
# shellcheck disable=SC2034 # bad is for those who source it
# For tests of what programs say: sourced by tests/system/*.sh, which end with `exit $bad`.
bad=0

is() { # WHAT GOT WANTED
    if [ "$2" != "$3" ]; then
        echo "$1: $2, not $3"
        bad=1
    fi
}
