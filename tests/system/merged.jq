# What is worse in a merged run than in the recording alone: a line each. Inputs (jq -n --slurpfile): $alone and $merged, rows
# of `ops --json`. A rank's start is the recording's, within its stated error; so are all else that it knows, to the ns.
def within($most): if . < 0 then -. else . end | . <= $most;
# Told, and when all was done: of a fan-out only where that is so of each of its pairs.
def ended($op): .end_ns != null and (.end_early | not) and ($op.kind != "fanout" or $op.transfer_ns != null);
def ranks: [.ranks[] | [.rank, .global_rank, .pid, .enqueued_ns, .launched_ns]];
($merged | INDEX(.op)) as $in
| ($alone | INDEX(.op)) as $known
| (
    $alone[] | . as $x | $in[.op] as $y | "\(.func) \(.comm) \(.seq) \(.op)" as $name
    | if $y == null then "\($name): not there" else
        (if ($x | ranks) != ($y | ranks) then "\($name): ranks or calls differ" else empty end),
        (("nranks", "bytes", "dtype", "mismatch", "missing", "not_recorded", "last_rank", "tie", "violation", "error_ns") as $f
         | if $x.wait_source != null and $x[$f] != $y[$f] then "\($name): \($f) \($x[$f]), merged \($y[$f])" else empty end),
        (if $x.complete and ($y.complete | not) then "\($name): no longer complete" else empty end),
        (range($x.ranks | length) as $i | $x.ranks[$i] as $p | $y.ranks[$i] as $q | "\($name) rank \($p.rank)" as $name
         | (if $p.start_ns != null and ($q.start_ns == null or ($p.start_ns - $q.start_ns | within($p.clock_error_ns) | not))
            then "\($name): start \($p.start_ns), merged \($q.start_ns)" else empty end),
           (if $p.start_ns != null and $p.clock_error_ns != $q.clock_error_ns
            then "\($name): clock error \($p.clock_error_ns), merged \($q.clock_error_ns)" else empty end),
           (if ($p | ended($x)) and $p.end_ns != $q.end_ns then "\($name): end \($p.end_ns), merged \($q.end_ns)" else empty end),
           # Whoever is known to have ended by now, as a send into a buffer, has not waited until the last came.
           (if $p.wait_ns != null and $p.wait_ns != $q.wait_ns
               and (($p | ended($x)) or $q.wait_ns == null or $q.wait_ns > $p.wait_ns)
            then "\($name): wait \($p.wait_ns), merged \($q.wait_ns)" else empty end))
      end
  ), (
    # The profiler's steps were recorded: only groups of one rank, which NCCL does not report, come beside that.
    $merged[] | select($known[.op] == null and .nranks != 1 and any(.seen_by[]; . == "kineto"))
    | "\(.func) \(.comm) \(.seq): only by \(.seen_by | join(", "))"
  )
