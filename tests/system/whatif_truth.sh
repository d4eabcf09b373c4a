#!/bin/bash
# What a cure saves, against the same run without the fault (same seed, same noise). The saving is within 0.5 % of the run or
# 15 % of the truth for ranks, within 4 % or 25 % for hosts, links and overlap, in 95 % of all runs; its interval contains the
# truth in 90 %, and its median width is at most half of the saving where that is 2 % of the run or more.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"

# make NAME OPTION...: a run into $TMP/NAME
make_run() {
    local name=$1
    shift
    rm -rf "${TMP:?}/$name"
    "$RINGSCOPE" gen --no-truth "$@" -o "$TMP/$name" >"$TMP/log" || { cat "$TMP/log"; exit 1; }
}
# plant KIND TAKE_OUT FAULT OPTION...: one line for each: kind, said, low, high, true, length of the run
plant() {
    local kind=$1 take=$2 fault=$3 length
    shift 3
    make_run clean "$@"
    # shellcheck disable=SC2086
    make_run late $fault "$@"
    length=$("$RINGSCOPE" whatif --take-out waits --json "$TMP/clean" | jq .makespan_ns)
    "$RINGSCOPE" whatif --json --take-out "$take" "$TMP/late" | jq -r --arg kind "$kind" --arg what "$* $fault" --argjson length "$length" \
        '.cases[0] as $c | [$kind, $c.saving_ns, $c.saving_low_ns, $c.saving_high_ns, .makespan_ns - $length, .makespan_ns, $what]
        | map(. // "?") | @tsv' >>"$TMP/rows"
}

: >"$TMP/rows"
first=${FIRST_SEED:-1}
for seed in $(seq "$first" $((first + ${SEEDS:-1} - 1))); do
    for us in 100 300 1000; do
        small="--hosts 2 --steps 30 --seed $seed" large="-n 32 --hosts 4 --steps 30 --seed $seed"
        who=$(((seed * 5 + us / 100) % 6 + 1)) # not the ends of a pipeline: they have no equals
        for work in ddp tpdp pipeline mix; do
            # shellcheck disable=SC2086
            plant rank "rank $who" "--slow $who:$us" -w "$work" $small
        done
        # shellcheck disable=SC2086
        {
            plant rank "rank 1$who" "--slow 1$who:$us" -w tpdp $large
            plant rank "rank 1$who" "--slow 1$who:$us" -w pipeline --schedule 1f1b $large
            plant wide "host node01" "--slow-host 1:$us" -w ddp $small
            plant wide "host node01" "--slow-host 1:$us" -w tpdp $small
            plant wide "rank $who" "--slow $who:$us" -w ddp --overlap $small
            plant wide "rank $who" "--slow $who:$us" -w tpdp --overlap $small
        }
    done
    # Programs take longer to launch their compute than it takes: what a GPU loses is partly hidden.
    for fault in slow slow-cpu; do
        # shellcheck disable=SC2086
        plant rank "rank $who" "--$fault $who:1000" -w ddp --host-part 1.3 --bytes 64Ki $small
    done
    plant wide "link 2-6" "--slow-link 2-6:3" -w tpdp -n 16 --hosts 4 --steps 30 --seed "$seed"
done

awk -F '\t' -v say="${SEEDS:+1}" '
    function size(x) { return x < 0 ? -x : x }
    $2 == "?" { print "unknown: " $7; unknown++; next }
    {
        n++
        limit = $1 == "rank" ? 0.005 * $6 : 0.04 * $6
        part = ($1 == "rank" ? 0.15 : 0.25) * size($5)
        good = size($2 - $5) <= (part > limit ? part : limit)
        right += good
        true = $5 > 0 ? $5 : 0
        inside = $3 <= true && ($4 == "?" || true <= $4)
        covered += inside
        if (!good || !inside) print (good ? "outside the interval: " : "wrong: ") $0
        if ($4 != "?" && $5 >= 0.02 * $6) width[++wide] = ($4 - $3) / $5
    }
    END {
        for (i = 2; i <= wide; i++) for (k = i; k > 1 && width[k] < width[k - 1]; k--) { t = width[k]; width[k] = width[k - 1]; width[k - 1] = t }
        median = width[int((wide + 1) / 2)]
        summary = sprintf("%d runs: %.1f %% within bounds, %.1f %% covered, median width %.2f of the saving, %d unknown",
            n, 100 * right / n, 100 * covered / n, median, unknown)
        if (say) print summary > "/dev/stderr"
        exit !(right >= 0.95 * n && covered >= 0.9 * n && median <= 0.5 && unknown <= n / 20)
    }' "$TMP/rows" >"$TMP/verdict" || { cat "$TMP/verdict" "$TMP/rows"; bad=1; }

# Some records lost: the rest is replayed. A tenth lost, or a rank that is not recorded: refused, with the reason.
saving() { "$RINGSCOPE" whatif --json --take-out 'rank 3' "$TMP/late" 2>/dev/null | jq -c '[.cases[0].saving_low_ns < 8300000, .cases[0].saving_high_ns > 8300000]'; }
make_run late -w tpdp --slow 3:300 --steps 30 --drop 0.02
is "few losses" "$(saving)" '[true,true]'
make_run late -w tpdp --slow 3:300 --steps 30 --late 2@8
is "recorded later" "$(saving)" '[true,true]'
refused() { # WHAT PATTERN
    "$RINGSCOPE" whatif --json "$TMP/late" >"$TMP/out" 2>/dev/null
    is "$1: status" $? 1
    is "$1: reason" "$(jq --arg p "$2" '.refused | test($p)' "$TMP/out")" true
    is "$1: no saving" "$(jq -c '[.replay_error_pct, (.cases[] | .saving_ns)] | unique' "$TMP/out")" '[null]'
}
make_run late -w tpdp --slow 3:300 --steps 30 --drop 0.15
refused losses 'parts of operations .* were lost'
make_run late -w tpdp --slow 3:300 --steps 30 --no-recording 2
refused "a rank without a recording" 'were not recorded'
exit $bad
