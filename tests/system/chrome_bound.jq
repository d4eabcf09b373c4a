# Which slice an arrow of a Chrome trace is bound to, as chrome://tracing finds it: ends belong to slices, the first of two
# that touch is found, and in it the innermost.
def ns: . * 1000 | round;
def tracks: # of all events
    [.[] | select(.ph == "X") | {start: (.ts | ns), end: ((.ts | ns) + (.dur | ns)), pid, tid, name, cat, op: .args.op, fanout: .args.fanout}] as $all
    | {by: ($all | group_by(.tid) | map({key: (.[0].tid | tostring), value: sort_by(.start, -.end)}) | from_entries),
       starts: (reduce $all[] as $s ({}; .["\($s.tid):\($s.start)"] = $s)),
       ends: (reduce $all[] as $s ({}; .["\($s.tid):\($s.end)"] = true))};
def bound($tracks): # of an event of an arrow; null: it hangs in the air
    (.ts | ns) as $at | "\(.tid):\($at)" as $key | .tid as $tid
    | if $tracks.starts[$key] and ($tracks.ends[$key] | not) then $tracks.starts[$key]
      else reduce ($tracks.by[$tid | tostring][]? | select(.start <= $at and $at <= .end)) as $s
          (null; if . == null or ($s.start >= .start and $s.end <= .end) then $s else . end) end;
