# What the commands say of one run, held against each other: one line for each disagreement, nothing where all agree.
# jq has doubles: wall times are good to 256 ns, hence the slack of 1 us.
#
# Each of $report, $critical, $info, $sql, $chrome is a list of one object, or empty where the command has nothing to say;
# $ops, $comms, $clocks are rows; $report_text ... what is printed.

def about($a; $b; $slack): $a == $b or ($a != null and $b != null and ($a - $b | fabs) <= $slack);
def differ($what; $a; $b): select($a != $b) | "\($what): \($a | tojson) and \($b | tojson)";
def differ($what; $a; $b; $slack): select(about($a; $b; $slack) | not) | "\($what): \($a | tojson) and \($b | tojson)";

# "20.0 us", "3 min 05 s", "5.503212s" in ns; null: no such text.
def in_ns: [match("([0-9.]+) ?(ns|us|ms|s|min|h)\\b"; "g") | [.captures[].string] as [$n, $unit]
    | ($n | tonumber) * {ns: 1, us: 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9}[$unit]] | if . == [] then null else add end;
def found($pattern): [match($pattern; "g").captures[0].string] | .[0];
# Rows of the table that has this heading, as cells.
def rows($heading): split("\n") | . as $lines | (map(test($heading)) | index(true)) as $at
    | if $at == null then [] else [$lines[$at + 1:][] | sub("^ +"; "")] | .[:index("") // length]
        | map(select(test("^[0-9?]")) | [splits(" {2,}")]) end;
def text_is($what; $text; $wanted): differ($what; $text | in_ns; $wanted; 0.06 * ($wanted // 0) + 1);

($report[0] // {}) as $r | ($sql[0] // {}) as $db | ($chrome[0] // {}) as $ch
| ($db.t0_ns) as $t0
| [$ops[] | select(.fanout == null)] as $counted
| [$counted[] | select(.compared)] as $compared
| ([$compared[].error_ns] | max) as $error
| def at($ns): if $ns == null or $t0 == null then null else $ns - $t0 end;

# ---- operations ----
differ("operations, report and ops"; $r.operations.count; $counted | length),
differ("operations, report and sql"; $r.operations.count; $db.operations),
differ("operations, report and chrome"; $r.operations.count; $ch.operations),
differ("operations by function, report and ops";
    [$r.by_func[] | {func, calls}] | group_by(.func) | map([.[0].func, (map(.calls) | add)]);
    [$counted[].func] | group_by(.) | map([.[0], length])),
differ("operations, text of report"; $report_text | found("([0-9,]+) operations?") // "0" | gsub(","; "") | tonumber; $r.operations.count),
(select($ops != []) | differ("operations, text of ops"; $ops_text | found("(?:^|\n)([0-9,]+) operations?[.;]") // "0" | gsub(","; "") | tonumber; $counted | length)),

# ---- ties, and the clock error ----
differ("compared, report and ops"; $r.operations.compared; $compared | length),
differ("compared, report and sql"; $r.operations.compared; $db.compared),
differ("ties, report and ops"; $r.operations.ties; [$counted[] | select(.tie)] | length),
differ("ties, report and sql"; $r.operations.ties; $db.ties),
differ("ties, report and chrome"; $r.operations.ties; $ch.ties),
([$ops[] | select(.tie and (.compared | not)) | .op] | select(. != []) | "ties that were not compared: \(.)"),
differ("clock error, report and ops"; $r.clock_error_ns; $error),
differ("clock error, report and sql"; $r.clock_error_ns; $db.error_ns),
differ("clock error, report and chrome"; $r.clock_error_ns; $ch.error_ns),
($clocks[] | differ("clock error, report and clocks"; $r.clock_error_ns; .compare_error_ns)),
(select(($r.clock_error_ns // 0) > 0)
    | text_is("clock error, text of report"; $report_text | found("(?:clock error up to|all on one clock, to) ([0-9.]+ [a-z]+)"); $r.clock_error_ns),
      text_is("clock error, text of clocks"; $clocks_text | found("comparing starts: up to ([0-9.]+ [a-z]+)") // found("to within ([0-9.]+ [a-z]+)"); $r.clock_error_ns),
      (select($view_text != "")
          | text_is("clock error, picture"; $view_text | found("clock(?: error up to |s: ±)([0-9.]+ [a-z]+)"); $r.clock_error_ns))),

# ---- time zero ----
(select($t0 != null)
    | differ("time zero, report and sql"; $r.t0_ns; $t0),
      differ("time zero, chrome and sql"; $ch.t0_ns; $t0),
      (select($critical != [] and $critical[0].from_ns != null) | differ("time zero, critical and sql"; $critical[0].t0_ns; $t0)),
      ({report: $report_text, ops: $ops_text, comms: $comms_text, critical: $critical_text, view: $view_text} | to_entries
          | map(.key as $who | .value | found("(20[0-9-]{8} [0-9:.]{15}) UTC") | select(. != null) | [$who, .])
          | differ("time zero in UTC"; map(.[1]) | unique | length | . <= 1; true) | "\(.)"),
      (select($t0 > 1e18) | $report_text | found("first event, (20[0-9-]{8} [0-9:]{8})[.0-9]* UTC") // ""
          | differ("time zero in UTC, report and sql"; .; select($r.from_ns != null) | ($t0 / 1e9 | floor | strftime("%Y-%m-%d %H:%M:%S"))))),

# ---- what is printed is that time ----
([$ops[].op] | length - (unique | length) | select(. > 0) | "\(.) operations have the id of another"),
([$ops | group_by(.op)[] | select(length == 1) | .[0] | {key: .op[0:14], value: .}] | from_entries) as $by_id
| ($ops_text | rows("^ +at  op ")[] | .[0] as $at | $by_id[.[1]] // {} | select(.start_ns != null)
    | differ("at of \(.op) in ops"; $at | in_ns; at(.start_ns); 1500)),
([$r.outlier_steps[]? | {key: "\(.step)", value: .}] | from_entries) as $steps
| ($report_text | rows("^step +at ")[] | . as $row | $steps[$row[0]] | select(. != null)
    | differ("at of step \($row[0]) in report"; $row[1] | in_ns; at(.from_ns); 1500)),
([$critical[0].segments[]? | at(.from_ns)] as $at
| $critical_text | rows("^ +at +for ")[] | .[0] | in_ns | . as $said
    | select(any($at[]; about(.; $said; 1500)) | not) | "at of a segment in critical: \($said)"),
([$comms[].created_ns | at(.)] as $at
| $comms_text | split("\n")[] | select(test("^ *0x")) | [splits(" {2,}")] | .[-2] // "" | select(test("^[0-9.]+ ?(ns|us|ms|s)$"))
    | in_ns | . as $said | select(any($at[]; about(.; $said; 1500)) | not) | "made at, in comms: \($said)"),

# ---- waits ----
($ops[] | [.ranks[].wait_ns | select(. != null)] as $waits
    | differ("longest wait of \(.op)"; .longest_wait_ns; $waits | max),
      differ("mean wait of \(.op)"; .mean_wait_ns; $waits | select(. != []) | (add / length) | floor; 1),
      (select((.compared | not) and .wait_source == "clocks" and $waits != [] and .nranks != 1) | "waits in \(.op), which is not compared")),
($ops_text | rows("^ +at  op ")[] | .[8] as $wait | $by_id[.[1]] // {} | select($wait != null and .longest_wait_ns != null)
    | ([.longest_wait_ns, 2 * (.error_ns // 0)] | max) as $told | text_is("wait of \(.op) in ops"; $wait; $told)),
differ("sum of waits, report and ops"; [$r.by_func[]?.wait_sum_ns // 0] | add // 0; [$counted[].ranks[].wait_ns // 0] | add // 0; 1000),
differ("sum of waits, sql and ops"; $db.waits // 0; [$counted[].ranks[].wait_ns // 0] | add // 0; 1000),
(select($view_text | test("waited +last\n")) # of each rank, where there are not too many
    | [$view_text | split("\n")[] | match("^rank [^│|]*[│|].*[ >] +([0-9.]+ [num]?s|-) +([0-9]+|-)$").captures | map(.string)] as $rows
    | [$counted[] | (2 * (.error_ns // 0)) as $least | select(.wait_source == "clocks") | .ranks[].wait_ns // 0 | select(. >= $least)] as $waits
    | differ("sum of waits, picture and ops"; [$rows[][0] | in_ns // 0] | add // 0; $waits | add // 0; 0.01 * ($waits | add // 0) + 10),
      (select($r.operations.whole == $r.operations.count)
          | differ("operations with a last rank, picture and ops"; [$rows[][1] | tonumber? // 0] | add // 0;
                [$compared[] | select(.tie | not)] | length))),

# ---- ranks ----
([$comms[].members[] | .global_rank] as $global | select($global != [] and ($global | all(. != null)))
    | differ("ranks, report and comms"; $r.ranks; $global | unique | length),
      (select(($info[0].runs // []) != []) | differ("ranks, report and info"; $r.ranks; $info[0].ranks)),
      differ("ranks, text of report"; $report_text | found("^([0-9,]+) ranks?") // "" | gsub(","; "") | tonumber? // null; $r.ranks)),

# ---- how long ----
(select($info != [] and $t0 != null and $db.to_ns != null) | $info_text | found("UTC[^,\n]*, for ([0-9.]+ [a-z]+(?: [0-9]+ [a-z]+)?)")
    | select(. != null) | in_ns | select(. > 1.06 * at($db.to_ns) + 1e8)
    | "info says \(. / 1e9) s of a run of \(at($db.to_ns) / 1e9) s")
