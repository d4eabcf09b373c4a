#!/bin/bash
# Every command line of README.md, the documents and the man pages runs, and prints what they show; tools/docs.sh finds what is
# wrong; links lead somewhere; README.md is short.
# long
# shellcheck disable=SC2016,SC1003 # lines of documents
set -u
if ! [ -x "$BUILD/portable/root/bin/ringscope" ] || ! "$RINGSCOPE" --version | awk '$2 == "off" { exit 1 }'; then
    echo "built without a part that the documents show"
    exit 77
fi
fails=0
fail() {
    echo "$*"
    fails=$((fails + 1))
}

# ---- what is wrong is found ----
wrongs=$TMP/wrongs
mkdir "$wrongs"
wrong() { # PAGE WORDS: the page on standard input fails, with these words
    cat >"$wrongs/$1"
    words+=("$2")
}
block() { printf '%s\n' "$@" '```'; }
words=()
wrong output.md '+two' < <(block '```console' '$ echo one; echo two' 'one' 'three')
wrong status.md 'exit status 2 instead of 0: ringscope repor x' < <(block '```console' '$ ringscope repor x')
wrong pipe.md 'exit status 1 instead of 0: ringscope report' < <(block '```console' '$ ringscope report nothing-here --json | jq .')
wrong lines.md 'is in no line of the output' < <(block '<!-- lines: /^none/ -->' '```console' '$ echo one' 'one')
wrong unmarked.md 'mark the block as console' < <(block '```' '$ ringscope --help')
wrong indented.md 'mark it as console' <<<'    ringscope --help'
wrong option.md 'srun: unknown option --no-such-option' < <(block '```console' '$ srun --no-such-option ringscope --version')
wrong nodes.md 'neither --rdzv-endpoint nor' < <(block '```console' '$ torchrun --nnodes 2 ./train')
wrong target.md 'no target no-such-target' < <(block '```console' '$ make no-such-target')
wrong page.scd 'exit status 2 instead of 0: ringscope no-such-command' <<'END'
# EXAMPLES

	ringscope --version++
ringscope no\-such-command
END
if tools/docs.sh --check "$wrongs"/* >"$TMP/out" 2>&1; then fail "the wrong pages passed"; fi
for each in "${words[@]}"; do grep -qF -- "$each" "$TMP/out" || fail "'$each' is not in: $(cat "$TMP/out")"; done
# ---- what is right passes, and is written where it is not there yet ----
right=('<!-- varies -->' '```console' '$ echo "took $RANDOM ms"' 'took 7 ms' '$ echo one; \' '  echo two')
block "${right[@]}" x >"$TMP/new.md"
tools/docs.sh "$TMP/new.md" >/dev/null || fail "new.md was not written"
block "${right[@]}" one two | diff - "$TMP/new.md" || fail "new.md"
tools/docs.sh --check "$TMP/new.md" >"$TMP/out" || fail "$(cat "$TMP/out")"

# ---- the documents ----
JOBS=2 tools/docs.sh --check || fail "see above"

while IFS=: read -r page line link; do
    [ -e "$(dirname "$page")/$link" ] || fail "$page:$line: $link does not exist"
done < <(find ./*.md docs examples contrib viewer -path viewer/node_modules -prune -o -name '*.md' \
    -exec grep -HnoE '\]\([^)#]+' {} + | sed 's/](//' | grep -v '://')
length=$(wc -w <README.md)
[ "$length" -le 1500 ] || fail "README.md has $length words"
[ $fails = 0 ]
