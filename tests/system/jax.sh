#!/bin/bash
# JAX/XLA profiles of GPUs: compute, communication and overlap of each GPU, and no operation.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data/jax/vm.trace.json

# By hand, in us: 20 + 40 of compute; an all-reduce of 30 (25), 10 (5) of it behind compute; idle from 2.5 to 10 and from
# 50 to 60. What XLA derives from the streams (XLA Ops, XLA Modules) would count all of it again.
figures='[.[] | [.device, .compute_ns, .comm_ns, .overlap_ns, .exposed_comm_ns, .idle_ns]] | sort'
wanted='[[0,60000,30000,10000,20000,17500],[1,60000,25000,5000,20000,17500]]'
is overlap "$("$RINGSCOPE" overlap --json "$data" 2>/dev/null | jq -s -c "$figures")" "$wanted"
gzip -c "$data" >"$TMP/vm.trace.json.gz"
is compressed "$("$RINGSCOPE" overlap --json "$TMP/vm.trace.json.gz" 2>/dev/null | jq -s -c "$figures")" "$wanted"
is "no operations" "$("$RINGSCOPE" ops --json "$data" 2>/dev/null | wc -l)" 0
is "said" "$("$RINGSCOPE" overlap "$data" 2>&1 >/dev/null | grep -c 'do not identify collectives')" 1
is "kinds" "$("$RINGSCOPE" export --format csv --table events "$data" 2>/dev/null | tail -n +2 | cut -d, -f4 | sort | uniq -c | tr -s ' ' | paste -sd,)" \
    ' 2 comm, 4 compute, 2 copy'
head -c 3000 "$data" >"$TMP/cut.json"
is "cut" "$("$RINGSCOPE" info --json "$TMP/cut.json" 2>/dev/null | jq -c '[.inputs[] | [.format, .complete]]')" '[["jax-trace",false]]'
sed 's/Stream #/Line /' "$data" >"$TMP/lines.json"
is "without streams" "$("$RINGSCOPE" overlap "$TMP/lines.json" 2>&1 | grep -c 'without streams of a GPU')" 1
exit $bad
