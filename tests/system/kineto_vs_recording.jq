# Kineto's operations against those of recordings of the same job, all on one host: both have its wall clock.
# Input: null; $rec and $kin: operations of `ops --json`, the recording's joined, Kineto's times as they came (--no-align).
# Every rank's part in Kineto is looked up in the recording by rank, function and the time of its call; what is joined in the
# one must be joined in the other. Output: one object of counts; `wrong` and `apart` must be 0.

# The recording sees an all-to-all as its sends and receives; Kineto's own fan-outs are made of pairs that are compared.
def func: if .kind == "fanout" then "AlltoAll" else .func end;
# NCCL has no operations of one rank alone.
def is_kept: .nranks != 1;
# {"rank func src>dst": [[called, start, operation, ranks]...]} by time
def parts: reduce (.[] | select(is_kept) | . as $op | .ranks[] | select(.enqueued_ns != null)
    | [.enqueued_ns, (if .start_source == "kernel" then .start_ns else null end), $op.op, ($op.ranks | length), .global_rank,
       ($op | func) + (if $op.kind == "pair" then (if .rank == $op.src then ">" else "<" end) else "" end)])
    as [$called, $start, $op, $n, $rank, $what] ({}; .["\($rank) \($what)"] += [[$called, $start, $op, $n]])
    | map_values(sort);
# The place of the first that was called at or after a time
def first_from($at): {low: 0, high: length, of: .} | until(.low >= .high; (((.low + .high) / 2) | floor) as $mid
    | if .of[$mid][0] < $at then .low = $mid + 1 else .high = $mid end) | .low;

($rec | parts) as $truth | ($kin | map(select(.kind != "fanout")) | parts) as $seen
| ($seen | to_entries | map(.key as $key | ($truth[$key] // []) as $list | .value[]
    | . as [$called, $start, $op, $n]
    # PyTorch notes its call before NCCL is called in it
    | ($list[$list | first_from($called - 2000)]) as $t
    | {op: $op, key: $key, n: $n, of: $t[2], of_n: $t[3], late: (if $t then $t[0] - $called else null end),
       apart: (if $t and $start and $t[1] then ($start - $t[1] | fabs) else null end)})) as $mapped
| ($mapped | group_by(.op)) as $by_op
| ($mapped | map(select(.of)) | group_by(.of)) as $by_truth
| {
    kineto: ($by_op | length),
    recording: ($by_truth | length),
    parts: ($mapped | length),
    unknown: ($mapped | map(select(.of == null or .late > 5e6)) | length),
    apart: ($mapped | map(select(.apart != null and .apart > 100000)) | length),
    timed: ($mapped | map(select(.apart != null)) | length),
    worst_ns: ($mapped | map(.apart // 0) | max),
    # joined in Kineto, not in the recording
    wrong: ($by_op | map(select(map(.of) | unique | length != 1)) | length),
    # joined in the recording, and all there, but not in Kineto
    not_joined: ($by_truth | map(select(map(.op) | unique | length != 1)) | length),
    joined: ($by_op | map(select(length == .[0].of_n and (map(.of) | unique | length == 1))) | length),
    examples: [($by_op[] | select(map(.of) | unique | length != 1)), ($by_truth[] | select(map(.op) | unique | length != 1))][:2]
  }
