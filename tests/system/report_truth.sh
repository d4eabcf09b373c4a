#!/bin/bash
# Who held the others up, against the truth of synthetic runs: the rank or host that was made late, its cost within 2 %,
# where the lateness began, and nobody where nobody is.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
run=$TMP/run

gen() { # OPTION...: a run of 64 ranks on 8 hosts into $run, its report into $TMP/report
    rm -rf "$run"
    "$RINGSCOPE" gen -n 64 --hosts 8 "$@" -o "$run" >"$TMP/log" || { cat "$TMP/log"; exit 1; }
    "$RINGSCOPE" report --json "$run" >"$TMP/report" || { echo "report failed: gen $*"; bad=1; }
}
near() { # WHAT GOT WANTED PERCENT
    awk -v got="$2" -v wanted="$3" -v most="$4" 'BEGIN { d = (got - wanted) / wanted * 100; exit !(d <= most && d >= -most) }' ||
        { echo "$1: $2, not $3 within $4 %"; bad=1; }
}
first() { jq -c ".stragglers[0] | [.scope, $1]" "$TMP/report"; }

for seed in $(seq "${SEEDS:-3}"); do
    # A rank whose GPU is 2 ms late at every step.
    gen --steps 40 --slow 5:2000 --seed "$seed"
    is "slow rank, seed $seed" "$(first .rank,.why)" '["rank",5,"queued behind compute"]'
    near "cost of the slow rank, seed $seed" "$(jq '.stragglers[0].cost_ns' "$TMP/report")" "$(jq '.straggler.rank_cost_ns' "$run/truth.json")" 2
    is "slow rank is named, seed $seed" "$(jq -c '[.findings[] | select(.named) | [.kind, .scope, .rank, .why]]' "$TMP/report")" '[["persistent","rank",5,"queued behind compute"]]'
    near "its lateness per step, seed $seed" "$(jq '.findings[0].late_ns' "$TMP/report")" 2000000 3
    near "cost of 2 ms in each of 39 or 40 steps, seed $seed" "$(jq '.stragglers[0].cost_ns' "$TMP/report")" 79000000 4
    # One whose program is late, so that its kernels are launched late.
    gen --steps 40 --slow-cpu 21:2000 --seed "$seed"
    is "slow program, seed $seed" "$(first .rank,.why)" '["rank",21,"launched late"]'
    near "cost of the slow program, seed $seed" "$(jq '.stragglers[0].cost_ns' "$TMP/report")" "$(jq '.straggler.rank_cost_ns' "$run/truth.json")" 2
    # A host: none of its ranks costs anything alone.
    gen --steps 40 --slow-host 3:2000 --seed "$seed"
    is "slow host, seed $seed" "$(first .host)" '["host","node03"]'
    near "cost of the slow host, seed $seed" "$(jq '.stragglers[0].cost_ns' "$TMP/report")" "$(jq '.straggler.host_cost_ns' "$run/truth.json")" 2
    is "slow host is named, seed $seed" "$(jq -c '[.findings[] | select(.named) | [.kind, .scope, .host, (.ranks | length)]]' "$TMP/report")" '[["persistent","host","node03",8]]'
    # Passed on from tensor-parallel to data-parallel groups: charged where it began, once a step, and not to its mates.
    gen -w tpdp --steps 30 --slow 13:2000 --seed "$seed"
    is "lateness that is passed on, seed $seed" "$(first .rank)" '["rank",13]'
    near "its cost, seed $seed" "$(jq '.stragglers[0].cost_ns' "$TMP/report")" 60000000 4
    is "its mates' own cost, seed $seed" "$(jq '[.stragglers[] | select(.scope == "rank" and .host == "node01" and .rank != 13)
        | select(.cost_ns > 2000000)]' "$TMP/report")" '[]'
    is "its mates inherit, seed $seed" "$(jq '[.stragglers[] | select(.scope == "rank" and .host == "node01" and .rank != 13) | select(.inherited_ns > 30000000)]
        | length' "$TMP/report")" 7
done
# Without a communicator of all ranks.
gen -w tpdp --no-world --steps 30 --slow 13:2000
is "no world" "$(first .pid)" "$(jq -c '[ "rank", (.gpus[] | select(.rank == 13) | .pid)]' "$run/truth.json")"

# Two ranks of two hosts: neither host, whose ranks are not late together. A cure of one shows the other, so both are one
# finding; what they save together is nearly the smaller of the two delays in each step.
gen -n 8 --hosts 2 --slow 5:300 --slow 2:280 --steps 200
is "two ranks" "$(jq -c '.findings[0] | [.kind, .scope, .name, .ranks, .named]' "$TMP/report")" '["persistent","group","ranks 2,5",[2,5],true]'
is "no host" "$(jq -c '[.findings[] | select(.scope == "host" and .named)]' "$TMP/report")" '[]'
is "one sentence about them" "$(jq -r '[.conclusion[] | select(test("^Ranks 2,5 each start "))] | length' "$TMP/report")" 1
near "their saving" "$(jq '.findings[0].saving_ns' "$TMP/report")" 56000000 10
# The same GPU of three of four hosts: named by what they share.
gen -n 16 --hosts 4 --slow 2:300 --slow 6:300 --slow 14:300 --steps 40
is "a rail" "$(jq -r '.conclusion[0] | test("^Ranks 2,6,14 \\(all have GPU 2 of their hosts\\) each start ")' "$TMP/report")" true
# Passed on where there is one communicator only.
gen -w pipeline --slow 5:2000 --steps 30
is "one communicator" "$(jq -r '.conclusion | any(test("in other communicators"))' "$TMP/report")" false

# Nobody is late: nobody is named.
gen --steps 40 --seed 7
is "nobody" "$(jq -r '.conclusion[0] | test("^No rank, host or link stands out: a persistent delay of [0-9.]+ us per step or more would have been seen")' "$TMP/report")" true
is "nobody is named" "$(jq -c '[.findings[] | select(.named)]' "$TMP/report")" '[]'
# A slow link is named as a link.
gen --steps 40 --slow-link 7-8:4 --seed 8
is "slow link" "$(jq '[.conclusion[] | select(test("7.*8"))] | length > 0' "$TMP/report")" true

# Steps, warm-up, course.
gen --steps 40 --seed 9
is "steps" "$(jq .steps.count "$TMP/report")" 40
is "warm-up" "$("$RINGSCOPE" report --json --warmup 10 "$run" | jq '[.by_func[].calls] | add')" "$(jq '[.operations[] | select(.[6] >= 10)] | length' "$run/truth.json")"
is "course by steps" "$("$RINGSCOPE" report --json --every 10steps "$run" | jq '.course | length')" 4
# Bytes on the wire: a ring over 64 ranks on 8 hosts sends 2 * 63 / 64 of each all-reduce from the last rank of a host to the
# first of the next.
wire=$(jq '[.operations[] | .[5] * 2 * 63 / 64] | add' "$run/truth.json")
is "sent" "$(jq -c '[.network[] | select(.bytes > 0) | [.rank, .peer, .bytes]] | sort' "$TMP/report")" \
    "$(jq -c -n --argjson wire "$wire" '[range(8) | [. * 8 + 7, (. * 8 + 8) % 64, $wire]]')"
is "received" "$(jq -c '[.network[] | select(.received_bytes > 0) | [.peer, .rank, .received_bytes]] | sort' "$TMP/report")" \
    "$(jq -c -n --argjson wire "$wire" '[range(8) | [. * 8 + 7, (. * 8 + 8) % 64, $wire]]')"

# Filters: half of the ranks, one function, a span of time.
is "filter by function" "$("$RINGSCOPE" report --json --func ReduceScatter "$run" 2>&1 | grep -c "Functions here: AllReduce")" 1
all=$("$RINGSCOPE" ops --json "$run" | jq -s length)
mapfile -t thirds < <("$RINGSCOPE" ops --json "$run" | jq -s -r --argjson n "$all" '.[$n / 4 | floor, ($n * 3 / 4 | floor)].start_ns')
is "filter by time" "$("$RINGSCOPE" ops --json --from "${thirds[0]}" --to "${thirds[1]}" "$run" | jq -s --argjson n "$all" '(length - $n / 2 | fabs) <= 2')" true
after=$("$RINGSCOPE" ops --json "$run" | jq -s --argjson t0 "$(jq .t0_ns "$TMP/report")" 'map(select(.start_ns - $t0 >= 220000000)) | length')
is "some are after 220 ms, and some before" "$((after > 10 && after < all - 10))" 1
is "filter by time after the start" "$("$RINGSCOPE" ops --json --from 220ms "$run" | jq -s length)" "$after"
is "filter by time before that" "$("$RINGSCOPE" ops --json --to 0.22s "$run" | jq -s length)" "$((all - after))"

# A mean wait below twice the clock error is not told in the table.
gen -n 8 --hosts 2 --steps 40 --jitter 0.1 --compute 50 --seed 2
jq -r '(2 * .clock_error_ns) as $least | .by_func[] | if .wait_ns < $least then "<" else "known" end' "$TMP/report" >"$TMP/wanted"
is "waits below the error" "$("$RINGSCOPE" report "$run" | sed -n '/^function /,/^$/s/^AllReduce /&/p' |
    awk -F '   *' '{ print $7 ~ /^</ ? "<" : "known" }')" "$(cat "$TMP/wanted")"
is "both kinds" "$(sort -u "$TMP/wanted" | wc -l)" 2

# By rank: the operations of communicators that one of them is in.
gen -w tpdp --steps 3 --seed 11
some=$(jq '[.communicators[] | any(.members[]; .[4] <= 3 or .[4] == 9)] as $in | [.operations[] | select($in[.[1]])] | length' "$run/truth.json")
is "ranks that are not in all operations" "$((some > 20 && some < $(jq '.operations | length' "$run/truth.json") / 2))" 1
is "filter by rank" "$("$RINGSCOPE" ops --json --rank 0-3,9 "$run" | jq -s length)" "$some"
exit $bad
