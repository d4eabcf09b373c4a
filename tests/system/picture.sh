#!/bin/bash
# Pictures of the timeline: SVG, PNG and text of every kind of input; small, well-formed, and true to the recording.
set -u
data=$(dirname "$0")/../data
bad=0
work=$TMP

fail() {
    echo "$*"
    bad=1
}
view() { "$RINGSCOPE" view -f "$@" 2>"$work/err"; }
well_formed() { # FILE
    ! command -v xmllint >/dev/null || xmllint --noout "$1" 2>"$work/xml" || fail "$1: $(head -n 3 "$work/xml")"
}
bytes() { stat -c %s "$1"; }

# Every input with a time axis is drawn in every way; the others say why not.
for input in comma inspector h200-mix h200-ddp h200-overlay/rec flight/ddp4 flight/hang-order kineto nsys \
    example/ddp4 example/ring4 example/oneprocess4; do
    for rows in "" --open-rows; do
        # shellcheck disable=SC2086 # an option or nothing
        view "$data/$input" $rows -o "$work/x.svg" || fail "$input $rows: no SVG: $(cat "$work/err")"
        well_formed "$work/x.svg"
        grep -q '<title>' "$work/x.svg" || fail "$input $rows: no titles"
        [ "$(bytes "$work/x.svg")" -lt 2000000 ] || fail "$input $rows: $(bytes "$work/x.svg") bytes"
    done
    view "$data/$input" --text --width 70 >"$work/text" || fail "$input: no text: $(cat "$work/err")"
    [ "$(LC_ALL=C.UTF-8 wc -L <"$work/text")" -le 70 ] || fail "$input: text is wider than 70 columns"
    LC_ALL=C grep -q '[[:cntrl:]]' "$work/text" && fail "$input: control characters"
    rm -f "$work/x.svg"
done
for input in ncclsee nvprof/nvprof-ddp2.txt; do
    view "$data/$input" -o "$work/x.svg" && fail "$input: drawn without a time axis"
    grep -q 'time axis' "$work/err" || fail "$input: $(cat "$work/err")"
    [ ! -e "$work/x.svg" ] || fail "$input: left a file"
done

# The conclusion of the report is below, in the same words, whatever the lines; unless one does without.
"$RINGSCOPE" report --json "$data/kineto" 2>/dev/null | jq -r '.conclusion | join(" ")' >"$work/said"
[ "$(wc -w <"$work/said")" -gt 20 ] || fail "the report concludes nothing"
view "$data/kineto" --text --width 80 | sed '1,/^$/d' | tr '\n' ' ' | sed 's/ $//' >"$work/text"
diff "$work/said" <(cat "$work/text"; echo) || fail "text and report conclude differently"
view "$data/kineto" -o "$work/said.svg"
grep -o '<text [^>]*>[^<]*</text>' "$work/said.svg" | sed 's/<[^>]*>//g; s/&apos;/'"'"'/g; s/&#39;/'"'"'/g; s/&amp;/\&/g' | tr '\n' ' ' >"$work/text"
grep -qF "$(cat "$work/said")" "$work/text" || fail "picture and report conclude differently: $(tail -c 700 "$work/text")"
view "$data/kineto" --no-conclusion -o "$work/bare.svg"
grep -q 'later than its equals' "$work/bare.svg" && fail "--no-conclusion: it is there"
[ "$(view "$data/kineto" --no-conclusion --text | grep -c '^$')" -eq 0 ] || fail "--no-conclusion: an empty line"

# A picture says what it shows: the ranks, the clocks, who made it; operations are joined by lines.
view "$data/h200-mix" -o "$work/mix.svg"
for words in '>rank 0' '>rank 3' 'clock error up to ' '>ringscope ' 'same operation' 'send to receive' '>AllReduce</text>'; do
    grep -q "$words" "$work/mix.svg" || fail "h200-mix: no $words"
done
view "$data/h200-mix" -o "$work/none.svg" --relations none
grep -q 'same operation' "$work/none.svg" && fail "--relations none: lines"
# One row a GPU, and no more.
[ "$(view "$data/h200-mix" --text | grep -ac '^rank [0-9]')" -eq 4 ] || fail "h200-mix: not one line a GPU"
# Three operations launched together are three bars side by side on each rank, and each is joined across ranks.
view "$data/h200-mix" --open-rows --rows operations --comm 02e31744 --func AllReduce --from 164.1ms --to 165.15ms \
    -o "$work/agg.svg"
n=$(grep -c '^<g><title>AllReduce' "$work/agg.svg")
[ "$n" -eq 12 ] || fail "aggregated: $n bars"
# A ring of four is four arrows.
view "$data/h200-mix" --open-rows --level ops --comm 02e31744 --from 160.4ms --to 160.68ms -o "$work/ring.svg"
n=$(grep -c '<polyline.*stroke="#7a3db8" stroke-width="1.5" stroke-opacity' "$work/ring.svg")
[ "$n" -eq 4 ] || fail "ring: $n arrows"

# Names are text.
view "$data/h200-mix" -o "$work/title.svg" --title '<script>alert("x")</script> & '$'\x1b''[2J'
well_formed "$work/title.svg"
grep -q '<script' "$work/title.svg" && fail "a title became markup"
view "$data/h200-mix" --text --title $'\x1b''[2J' | LC_ALL=C grep -q $'\x1b' && fail "a title moved the cursor"

# PNG: what it says it is, as wide as asked for; light and dark differ.
if ldconfig -p 2>/dev/null | grep -q 'libcairo\.so\.2'; then
    for ground in --light --dark; do
        view "$data/h200-ddp" "$ground" --width 900 -o "$work/x$ground.png" || fail "PNG: $(cat "$work/err")"
        [ "$(head -c 8 "$work/x$ground.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "$ground: no PNG"
        [ "$(od -An -tu1 -j 16 -N 4 "$work/x$ground.png" | tr -s ' ')" = " 0 0 3 132" ] || fail "$ground: not 900 wide"
    done
    cmp -s "$work/x--light.png" "$work/x--dark.png" && fail "light and dark are the same"
else
    view "$data/h200-ddp" -o "$work/x.png" && fail "a PNG without cairo"
    grep -q 'libcairo2.*SVG' "$work/err" || fail "without cairo: $(cat "$work/err")"
fi

# Thousands of ranks: those that waited most, and how many are left out. Millions of callbacks: still small.
"$RINGSCOPE" gen --ranks 2048 --steps 1 --events ops --no-truth -o "$work/ranks" >/dev/null
view "$work/ranks" -o "$work/ranks.svg" || fail "2048 ranks: $(cat "$work/err")"
well_formed "$work/ranks.svg"
[ "$(bytes "$work/ranks.svg")" -lt 2000000 ] || fail "2048 ranks: $(bytes "$work/ranks.svg") bytes"
grep -q '1792 of 2048 GPUs not shown' "$work/ranks.svg" || fail "2048 ranks: not said what is left out"
view "$work/ranks" --text >"$work/text"
n=$(grep -ac '^rank [0-9]' "$work/text")
[ "$n" -eq 48 ] || fail "2048 ranks: $n lines, not 48"
n=$(view "$work/ranks" --text --all-gpus | grep -ac '^rank [0-9]')
[ "$n" -eq 2048 ] || fail "--all-gpus: $n lines of 2048"
"$RINGSCOPE" gen --ranks 8 --callbacks 200000 --no-truth -o "$work/long" >/dev/null
for rows in "" "--open-rows --relations all"; do
    # shellcheck disable=SC2086 # options or nothing
    view "$work/long" $rows -o "$work/long.svg" || fail "long $rows: $(cat "$work/err")"
    well_formed "$work/long.svg"
    [ "$(bytes "$work/long.svg")" -lt 2000000 ] || fail "long $rows: $(bytes "$work/long.svg") bytes"
done
exit $bad
