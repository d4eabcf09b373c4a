#!/bin/bash
# What people see who come with traces that they have: notes said once and not once a file, no host, pid or date that is
# not known, names of others that do no harm to a terminal, and a plain word where a command cannot help.
# sanitizers: address
set -u
data=$(dirname "$0")/../data
bad=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

is() { # WHAT GOT WANTED
    [ "$2" = "$3" ] || { echo "$1: $2, not $3"; bad=1; }
}
has() { # WHAT TEXT PATTERN
    grep -q -- "$3" <<<"$2" || { echo "$1: no \"$3\" in: $2"; bad=1; }
}
hasnt() { # WHAT TEXT PATTERN
    ! grep -q -- "$3" <<<"$2" || { echo "$1: \"$3\" in: $2"; bad=1; }
}
head_of() { "$RINGSCOPE" report "$@" 2>/dev/null | sed -n "/^$/ { n; p; q; }"; } # below the conclusion

# Notes: nine files with the same to say are one line; info has a line for each.
for i in 1 2 3 4 5 6 7 8 9; do zcat "$data/inspector/vm-pid1194.log.gz" | sed "s/\"pid\": *1194/\"pid\": 50$i/" > "$dir/n.$i.log"; done
notes=$("$RINGSCOPE" report "$dir" 2>&1 >/dev/null)
is "notes of report" "$(grep -c 'the line is cut off' <<<"$notes")" 1
has "how many" "$notes" "9 files, the first $dir/n.1.log: at byte"
is "notes of info" "$("$RINGSCOPE" info "$dir" 2>&1 >/dev/null | grep -c 'the line is cut off')" 9
rm "$dir"/*
hasnt "clocks without times" "$("$RINGSCOPE" report "$data/inspector" 2>&1 >/dev/null)" 'could not be tied'

# Hosts, dates, pids.
has "kineto" "$(head_of "$data/kineto")" '^4 ranks, 65 operations, from 2026'
is "kineto's hosts" "$("$RINGSCOPE" report --json "$data/kineto" 2>/dev/null | jq .hosts)" null
is "recordings' hosts" "$("$RINGSCOPE" report --json "$data/h200-ddp" 2>/dev/null | jq .hosts)" 1
has "example" "$(head_of "$data/example/ddp4")" '^4 ranks, 104 operations, for'
has "example" "$("$RINGSCOPE" report "$data/example/ddp4" 2>/dev/null)" '^Rank 2 (pid 423)'
hasnt "CoMMA" "$(head_of "$data/comma")" 1970
hasnt "pid of a dump" "$("$RINGSCOPE" clocks "$data/flight/hang-real/size" 2>/dev/null)" '_0  *0 '
has "nvprof" "$(head_of "$data/nvprof/nvprof-ddp2.txt")" '^summaries of 4 processes, without a time axis'
has "losses" "$("$RINGSCOPE" report "$data/inspector" 2>/dev/null)" '^At least 187 operations of 2 processes are not in'

# A size that a tool does not tell is not 0.
is "nvprof's sizes" "$("$RINGSCOPE" ops --json "$data/nvprof/nvprof_gpu_trace.csv" 2>/dev/null | jq -c '[.bytes, .busbw_gbs]')" '[null,null]'
is "nvprof's sizes" "$("$RINGSCOPE" report --json "$data/nvprof/nvprof_gpu_trace.csv" 2>/dev/null |
    jq -c '.by_func[0] | [.bytes, .busbw_seen_gbs]')" '[null,null]'

# Steps of calls alone: what made one of them long is not known.
is "steps of dumps" "$("$RINGSCOPE" report --json "$data/flight/hang-real/size" 2>/dev/null | jq -c .outlier_steps)" '[]'
is "steps of traces" "$("$RINGSCOPE" report --json "$data/h200-overlay/kineto" "$data/h200-overlay/rec" 2>/dev/null | jq '.outlier_steps | length > 0')" true

# Files of kinds that are not read are named, with what to do, also where a folder has nothing else.
mkdir "$dir/others"
printf '\n\005\n\0030.1' >"$dir/others/rank0.et"
printf '{"schema": "1.1.0-chakra.0.0.4", "pid": 7, "nodes": [{"id": 2, "rf_id": 0}]}' >"$dir/et.json"
printf '{"displayTimeUnit":"ns","metadata":{},"traceEvents":[{"args":{"name":"/host:CPU"},"name":"process_name","ph":"M"}]}' | gzip >"$dir/jax.json.gz"
printf 'x' >"$dir/job.nsys-rep"
for each in "others:a Chakra graph" "et.json:a PyTorch Execution Trace" "jax.json.gz:a JAX/XLA profile" "job.nsys-rep:nsys export --type sqlite"; do
    said=$("$RINGSCOPE" report "$dir/${each%%:*}" 2>&1)
    is "status of ${each%%:*}" $? 1
    has "${each%%:*}" "$said" "${each#*:}"
done
has "explain formats" "$("$RINGSCOPE" explain formats)" '^  an Nsight Systems report: convert it'

# Where a command cannot help.
has "hang" "$("$RINGSCOPE" hang "$data/kineto" 2>/dev/null)" '^UNKNOWN: '
has "clocks" "$("$RINGSCOPE" clocks "$data/flight/ddp4" 2>/dev/null)" 'clocks cannot be compared'
"$RINGSCOPE" export --format jsonl "$data/kineto" >"$dir/out" 2>"$dir/err"
is "export's status" $? 1
is "export's output" "$(wc -c < "$dir/out")" 0
has "export" "$(cat "$dir/err")" 'jsonl contains the callbacks of recordings'
is "folders of several jobs" "$("$RINGSCOPE" hang "$data/flight/hang-real" 2>&1 | grep -c 'several of the folders in it have a file nccl_trace_rank_0')" 1
has "dumps" "$("$RINGSCOPE" report "$data/flight/hang-real/size" 2>&1 >/dev/null)" 'ringscope hang. says why'
hasnt "traces" "$("$RINGSCOPE" report "$data/kineto" 2>&1 >/dev/null)" 'ringscope hang'

# A folder with folders in it: all of one run are read, of several the newest.
"$RINGSCOPE" gen -n 8 --hosts 2 --steps 4 -o "$dir/gen" >/dev/null
mkdir -p "$dir/job/nodeA" "$dir/job/nodeB"
for f in "$dir"/gen/*.rsc; do case $f in *node00.*) cp "$f" "$dir/job/nodeA" ;; *) cp "$f" "$dir/job/nodeB" ;; esac; done
is "both have some" "$(find "$dir/job" -name '*.rsc' -printf '%h\n' | sort | uniq -c | awk '{ print $1 }' | paste -sd,)" 4,4
# shellcheck disable=SC2016 # a code block
printf '# Notes\n\n```\n#       size         count      type   redop    root     time   algbw   busbw #wrong\n```\n' >"$dir/job/README.md"
is "folders in a folder" "$("$RINGSCOPE" ops --json "$dir/job" 2>"$dir/err" | sort | md5sum)" "$("$RINGSCOPE" ops --json "$dir/gen" 2>/dev/null | sort | md5sum)"
has "said" "$(cat "$dir/err")" "job: reading the 2 folders in it (8 recordings, 0 files of other tools)"
mkdir "$dir/docs" && cp "$dir/job/README.md" "$dir/docs/"
said=$("$RINGSCOPE" report "$dir/docs" 2>&1)
is "a document is no table" $? 1
has "a document is no table" "$said" 'no trace that ringscope knows'

# A reader that had enough is no failure; what was found keeps its status.
"$RINGSCOPE" ops --json "$dir/gen" 2>"$dir/err" | head -n 1 >/dev/null
is "ops --json | head" "${PIPESTATUS[0]} $(cat "$dir/err")" "0 "
for word in version -v -V --version; do
    is "$word" "$("$RINGSCOPE" $word | head -n 1 | cut -d ' ' -f 1)" ringscope
done

# A column that another table has is not offered as the correction of itself.
said=$("$RINGSCOPE" sql "$dir/gen" "SELECT name FROM events" 2>&1)
if ! grep -q 'built without\|no .ringscope sql' <<<"$said"; then
    hasnt "sql" "$said" "did you mean 'name'?"
    has "sql" "$said" "'name' is a column of communicators"
    has "sql" "$("$RINGSCOPE" sql "$dir/gen" "SELECT strt_ns FROM operations" 2>&1)" "did you mean 'start_ns'?"
fi

# What export wrote, counted as ops does.
count=$("$RINGSCOPE" ops "$dir/gen" 2>/dev/null | sed -n 's/^\([0-9,]* operations\).*/\1/p')
"$RINGSCOPE" export --format csv "$dir/gen" -o "$dir/out.csv" >"$dir/said" 2>/dev/null
has "export" "$(cat "$dir/said")" "out.csv: csv, [0-9.]* KiB, $count of 8 ranks$"
is "export to a pipe" "$("$RINGSCOPE" export --format csv "$dir/gen" 2>&1 >/dev/null)" ""

# Filters that match nothing say what there is, in every command.
for c in report hang overlap critical ops clocks "export -o $dir/none.db" "view -o $dir/none.html"; do
    for each in "--func AllRduce:did you mean AllReduce? Functions here: " "--comm xyz:Communicators here: " "--rank 99:Ranks here: 0-7$" \
        "--from 1h:The run is from 0.000000s to .* UTC"; do
        # shellcheck disable=SC2086
        said=$("$RINGSCOPE" $c ${each%%:*} "$dir/gen" 2>&1)
        is "$c ${each%%:*}" $? 1
        has "$c ${each%%:*}" "$said" "${each#*:}"
    done
done
is "nothing is written" "$(find "$dir" -maxdepth 1 -name '*none*' | wc -l)" 0
said=$("$RINGSCOPE" ops --func AllReduce --func Nothing "$dir/gen" 2>&1 >/dev/null)
is "one of two matches" $? 0
has "one of two matches" "$said" '--func Nothing matches nothing'
is "a wait for nobody" "$("$RINGSCOPE" ops "$data/nsys" 2>/dev/null | awk 'NR == 2 { print $11 }')" '?'

# Names: of files with control characters, and of kernels that fill a screen.
evil=$dir/$(printf 'a\033]0;x\007b.json')
long=$(printf 'void kernel<%0300d>' 7)
zcat "$data/kineto/kineto_rank2.json.gz" | sed "s/void sgemm_largek_lds64[^\"]*/$long\\\\u001b[31m(float)/" > "$evil"
for c in info report ops comms clocks hang overlap critical explain; do
    out=$("$RINGSCOPE" $c "$evil" 2>&1)
    hasnt "$c: control characters" "$out" "$(printf '[\033\007]')"
    is "$c: long lines of tables" "$(grep -c '0000000000000000000000000000000000000000000000000000000000000000000' <<<"$out")" 0
done
op=$("$RINGSCOPE" ops --json "$evil" 2>/dev/null | head -n 1 | jq -r .op)
out=$("$RINGSCOPE" ops --op "$op" --tree "$evil" 2>&1)
hasnt "ops --tree: control characters" "$out" "$(printf '[\033\007]')"
has "ops --tree" "$out" 'a?\]0;x?b.json, rank'
has "both ends of a name" "$("$RINGSCOPE" critical "$evil" 2>&1)" 'void kernel<0*\.\.\.0*7>'

# Every command that reads says what it reads.
for c in info report ops comms clocks hang overlap critical; do
    has "$c --help" "$("$RINGSCOPE" $c --help)" "other tools' traces"
done
exit $bad
