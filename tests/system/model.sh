#!/bin/bash
# The order of stores in commit, seal, reuse and close, as models: spin goes through every order that a processor may show.
# What we do holds, and each of the deliberate mistakes that a model knows is found.
set -u
command -v spin >/dev/null || { echo "spin is not installed"; exit 77; }
cp tests/model/*.pml "${TMP:?}" && cd "$TMP" || exit 1
bad=0

# violations NUMBER: 0 or 1, of the model that was compiled, with that mistake (0: with none)
violations() {
    MISTAKE=$1 ./pan -m100000 >said 2>&1 && ! grep -q 'search depth too small' said && sed -n 's/.*errors: \([01]\)$/\1/p' said
}

for model in close reuse discard; do
    rm -f pan*
    if ! spin -a $model.pml >said 2>&1 || ! "${CC:-cc}" -w -DSAFETY -o pan pan.c >said 2>&1; then
        cat said
        exit 1
    fi
    got=$(violations 0)
    [ "$got" = 0 ] || { echo "$model: ${got:-not checked}"; tail -n 5 said; bad=1; }
    mistakes=0
    while read -r mistake number; do
        mistakes=$((mistakes + 1))
        got=$(violations "$number")
        [ "$got" = 1 ] || { echo "$model with $mistake: ${got:-not checked}"; bad=1; }
    done < <(sed -n 's/^#define \([A-Z_]*\) \([0-9]*\) .* wrong: .*/\1 \2/p' $model.pml)
    echo "$model: $mistakes mistakes"
    [ $mistakes -ge 2 ] || bad=1
done
exit $bad
