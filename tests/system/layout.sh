#!/bin/bash
# The layout of jobs whose groups are known: made by ringscope gen, and real ones with and without names.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data

# layout WHAT SIZES TEXT IN...: tp, pp, dp, ep, cp in report and as the members of dimensions in comms; the line in both.
layout() {
    local what=$1 sizes=$2 text=$3
    shift 3
    is "$what: report --json" "$("$RINGSCOPE" report --json "$@" 2>/dev/null | jq -c '.layout | [.tp, .pp, .dp, .ep, .cp]')" "$sizes"
    is "$what: report" "$("$RINGSCOPE" report "$@" 2>/dev/null | sed -n 's/^layout: //p')" "$text"
    is "$what: comms" "$("$RINGSCOPE" comms "$@" 2>/dev/null | sed -n 's/^layout: //p')" "$text"
}

# dimensions IN...: the ranks of the job in the communicators of each dimension.
dimensions() {
    "$RINGSCOPE" comms --json "$@" | jq -sc 'map(select(.dimension)) | group_by(.dimension) |
        map({(.[0].dimension): map(.ranks) | sort}) | add'
}

truth='{"dp":[[0,4],[1,5],[2,6],[3,7]],"pp":[[0,2],[1,3],[4,6],[5,7]],"tp":[[0,1],[2,3],[4,5],[6,7]]}'
eight='8 ranks = tp 2 × pp 2 × dp 2 (tp: consecutive ranks; pp: stride 2; dp: stride 4), from'
real=$data/h200-tp2pp2dp2
layout "real, names" '[2,2,2,null,null]' "$eight names" "$real/kineto"
layout "real, no names" '[2,2,2,null,null]' "$eight operations" "$real/rec"
is "real, names: members" "$(dimensions "$real/kineto")" "$truth"
is "real, no names: members" "$(dimensions "$real/rec")" "$truth"
layout "real, DDP" '[null,null,4,null,null]' '4 ranks = dp 4, from operations' "$data/h200-ddp"
is "roles" "$("$RINGSCOPE" report --json "$real/rec" | jq -c '[.roles[] | [.role, .stage, .ranks]]')" '[[0,0,[0,1,4,5]],[1,1,[2,3,6,7]]]'
[ -z "${SAN:-}" ] || exit $bad

gen() { "$RINGSCOPE" gen --steps 10 --ranks "$2" --hosts "$3" --workload "$1" -o "$TMP/$1.$2" >/dev/null; }

gen tpdp 16 4
layout tpdp '[4,null,4,null,null]' '16 ranks = tp 4 × dp 4 (tp: consecutive ranks; dp: stride 4), from names' "$TMP/tpdp.16"
gen pipeline 16 2
layout pipeline '[null,8,null,null,null]' '16 ranks with pp 8 (pp: stride 2), from operations; a factor of 2 is unknown' "$TMP/pipeline.16"
is "roles of stages" "$("$RINGSCOPE" report --json "$TMP/pipeline.16" | jq -c '[.roles[].ranks]')" \
    '[[0,1],[2,3],[4,5],[6,7],[8,9],[10,11],[12,13],[14,15]]'
"$RINGSCOPE" gen -w tpppdp --ranks 16 --stages 4 --schedule interleaved --steps 6 -o "$TMP/three" >/dev/null
layout "interleaved" '[2,4,2,null,null]' \
    '16 ranks = tp 2 × pp 4 × dp 2 (tp: consecutive ranks; pp: stride 4; dp: stride 2), from names and operations' "$TMP/three"
is "stages" "$("$RINGSCOPE" report --json "$TMP/three" | jq -c '[.roles[] | [.stage, .ranks[0], .ranks[-1]]]')" \
    '[[0,0,3],[1,4,7],[2,8,11],[3,12,15]]'
gen alltoall 8 2
layout alltoall '[null,null,8,null,null]' '8 ranks = dp 8, from operations' "$TMP/alltoall.8"
# One process only is recorded: what the others do is not known, and what is not known is not reported.
one=$(find "$TMP/pipeline.16" -name '*.rsc' | sort | head -n 1)
is "one of sixteen" "$("$RINGSCOPE" comms "$one" 2>/dev/null | sed -n 's/^layout: //p')" ""
exit $bad
