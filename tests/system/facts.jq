# Facts of operations (`ops --json`, slurped) against truth.json of the same run ($truth, with --truth-times): a line for each
# that is not so, and at the end how many operations were looked at. Differences on one clock are exact but for its ticks and
# drift, and for what doubles keep of ns since 1970; between clocks they may be off by twice the stated error.
def near($want; $by): . != null and (. - $want | fabs) <= $by;
def factor($n): # of nccl-tests
    if . == "AllReduce" then 2 * ($n - 1) / $n elif . == "AllGather" or . == "ReduceScatter" then ($n - 1) / $n else 1 end;

$truth[0] as $t
| (reduce $t.operations[] as $o ({};
    .[$t.communicators[$o[1]].comm + " " + (if $o[2] == "Send" then "\($o[7]) \($o[8]) \($o[9])" else "\($o[2]) \($o[3])" end)] = $o)) as $true
| [.[] | select(.kind == "coll" or (.kind == "pair" and .src != .dst and (.ranks | length) == 2))] as $ours
| ($ours[] | . as $op
    | $true[.comm + " " + (if .kind == "pair" then "\(.src) \(.dst) \(.index)" else "\(.func) \(.seq)" end)] as $o
    | (if .kind == "pair" then [.src, .dst] else [range($o[11] | length)] end) as $ranks
    | ([$ranks, $o[11], $o[12]] | transpose | map({key: "\(.[0])", value: .[1:]}) | from_entries) as $at # rank: [start, end]
    | ($o[11] | max) as $last | ($o[11] | sort | .[-1] - .[-2]) as $lead | (2 * .error_ns + 1000) as $by
    | [
        (select(.bytes != $o[5]) | "bytes \(.bytes), not \($o[5])"),
        (select([.ranks[].rank] | sort != ($ranks | sort)) | "ranks \([.ranks[].rank])"),
        (select(.end_ns - .start_ns | near(($o[12] | max) - ($o[11] | min); $by) | not) | "\(.end_ns - .start_ns) ns in all"),
        (select(.transfer_ns != null or ($o[12] | max) - $last > 2 * $by) | select(.transfer_ns | near(($o[12] | max) - $last; $by) | not)
            | "transfer \(.transfer_ns), not \(($o[12] | max) - $last)"),
        (select(.transfer_ns != null) | select((.algbw_gbs / (.bytes / .transfer_ns) | near(1; 1e-9) | not)
            or (.nranks as $n | .busbw_gbs / .algbw_gbs | near($op.func | factor($n); 1e-9) | not)) | "\(.algbw_gbs) \(.busbw_gbs) GB/s"),
        (select(.tie == false or $lead > 2 * $by) | select(.tie or $at["\(.last_rank)"][0] != $last) | "last rank \(.last_rank), tie \(.tie)"),
        (select(.kind == "coll" and .func != "Broadcast") | select((.longest_wait_ns | near($last - ($o[11] | min); $by) | not)
            or (.mean_wait_ns | near($o[11] | map($last - .) | add / length; $by) | not)) | "waits \(.longest_wait_ns) \(.mean_wait_ns)"),
        (.ranks[] | . as $r | $at["\(.rank)"] as [$start, $stop]
            | ($t.communicators[$o[1]].members[] | select(.[0] == $r.rank)) as $member
            | (select([.rank, .host, .pid, .device, .global_rank] != $member) | "rank \(.rank) on \(.host) \(.pid) \(.device)"),
              (select(.duration_ns | near($stop - $start; 1000) | not) | "rank \(.rank) for \(.duration_ns), not \($stop - $start)"),
              (select($stop >= $last) | select(.wait_ns | near($last - $start; $by) | not) | "rank \(.rank) waited \(.wait_ns), not \($last - $start)"))
      ] | .[] | "\($op.func) \($op.comm) \($op.seq // $op.index): \(.)"),
  "\($ours | length) operations"
