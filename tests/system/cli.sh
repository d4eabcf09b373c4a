#!/bin/bash
# The command line as a user meets it: exit statuses, help, completion, and `ringscope run` around a command.
# sanitizers: address
set -u
fails=0
fail() {
    echo "line ${BASH_LINENO[1]}: $*"
    fails=$((fails + 1))
}

# expect STATUS COMMAND...: runs it; $out and $err hold what it printed.
expect() {
    local want=$1 got
    shift
    "$@" >"$TMP/out" 2>"$TMP/err"
    got=$?
    out=$(cat "$TMP/out")
    err=$(cat "$TMP/err")
    [ "$got" = "$want" ] || fail "exit status $got instead of $want: $* -- $out $err"
}
has() { [[ $1 == *"$2"* ]] || fail "'$2' is not in: $1"; }
lacks() { [[ $1 != *"$2"* ]] || fail "'$2' is in: $1"; }
same() { [ "$1" = "$2" ] || fail "'$1' instead of '$2'"; }

unset NCCL_PROFILER_PLUGIN RINGSCOPE_DIR RINGSCOPE_EVENTS RINGSCOPE_MEMORY RINGSCOPE_LIMIT RINGSCOPE_KEEP RINGSCOPE_BUFFERS RINGSCOPE_DETAIL RINGSCOPE_TRIGGERS
unset SLURM_JOB_ID SLURM_PROCID OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK RANK
root=$PWD
cd "$TMP" || exit 1

# ---- help, version, usage errors ----
expect 2 "$RINGSCOPE"
same "$out" ""
has "$err" "usage: ringscope"
for word in --help -h help; do
    expect 0 "$RINGSCOPE" $word
    has "$out" "run a job with the recorder in it"
    same "$err" ""
done
expect 0 "$RINGSCOPE" --version
has "$out" "ringscope "
has "$out" "zstd"
commands=$("$RINGSCOPE" --list-cmds)
has "$commands" run
for command in $commands; do
    expect 0 "$RINGSCOPE" help "$command"
    has "$out" "usage: ringscope $command"
    same "$err" ""
    help=$out
    expect 0 "$RINGSCOPE" "$command" --help
    same "$out" "$help"
    expect 0 "$RINGSCOPE" "$command" --list-opts
    options=$out
    for option in $options; do
        [[ $option == --* ]] || fail "$command --list-opts: $option"
        has "$help" " $option"
    done
    # A man page names all options and no others.
    page=$root/docs/man/ringscope-$command.1.scd
    if [ -e "$page" ]; then
        documented=$(grep '^\*-' "$page" | grep -o -- '--[a-z][a-z-]*' | sort -u)
        same "$documented" "$(echo "$options" | grep -vx -- --help | sort -u)"
    fi
    expect 2 "$RINGSCOPE" "$command" --no-such-option
    has "$err" "ringscope $command: unknown option --no-such-option"
    same "$out" ""
done
# Lists that the program has, where they are written once more: man pages, docs/README.md.
"$root/tools/man.sh" --check "$RINGSCOPE" >man.diff 2>&1 || fail "$(cat man.diff)"
for command in $commands; do
    [ -e "$root/docs/man/ringscope-$command.1.scd" ] || fail "$command has no man page"
    grep -q "^  $command  *[a-z]" "$root/docs/README.md" || fail "$command is not in docs/README.md (make docs)"
done
set -- "$root"/docs/man/ringscope-*.1.scd
same "$#" "$(echo "$commands" | wc -l)"
expect 0 "$RINGSCOPE" export --help
formats=$(echo "$out" | sed -n '/^formats/,/^$/s/^  \([a-z0-9]*\) .*/\1/p')
has "$formats" kineto
for format in $formats; do
    grep -qx "\*$format\*" "$root/docs/man/ringscope-export.1.scd" || fail "$format is not in ringscope-export(1)"
done
expect 0 "$RINGSCOPE" run --help
sets=$(echo "$out" | sed -n '/^sets of event types/,/^$/s/^  \([a-z]*\) .*/\1/p')
has "$sets" net
for set in $sets; do
    grep -q "\*$set\*" "$root/docs/man/ringscope-run.1.scd" || fail "--events $set is not in ringscope-run(1)"
    expect 0 "$RINGSCOPE" run --events "$set" --print-env
    has "$out" "RINGSCOPE_EVENTS='$set'"
done
expect 0 "$RINGSCOPE" --help
"$RINGSCOPE" explain formats | sed -n 's/^[a-z-]*: /  /p' >inputs
[ "$(wc -l <inputs)" -ge 10 ] || fail "explain formats: $(cat inputs)"
while IFS= read -r line; do has "$out" "$line"; done <inputs

# What others take is refused with their names, in all forms; a common option is one of all that name it.
expect 2 "$RINGSCOPE" hang --level ops x
has "$err" "ringscope hang: --level is not an option of hang, but of report, view, serve, ops, export and sql"
expect 2 "$RINGSCOPE" hang --no-align x
has "$err" "--no-align is not an option of hang, but of"
expect 2 "$RINGSCOPE" serve -j x
has "$err" "-j is not an option of serve, but of"
expect 2 "$RINGSCOPE" report --tree x
has "$err" "--tree is not an option of report, but of ops"
expect 2 "$RINGSCOPE" gen --rank 3
has "$err" "and sql; did you mean --ranks?"
expect 2 "$RINGSCOPE" comms --func=AllReduce x
has "$err" "--func is not an option of comms"
expect 2 "$RINGSCOPE" view x -o y.html --dark
has "$err" "--dark changes nothing here: it is for pictures and text"
expect 2 "$RINGSCOPE" ops x --level all
has "$err" "--level goes with --op ID --tree"
expect 2 "$RINGSCOPE" ops x --op 0x1234 --rank 3
has "$err" "--op names the operation"
expect 2 "$RINGSCOPE" report x --table nccl-tests --level ops

expect 2 "$RINGSCOPE" rum
has "$err" "did you mean 'run'?"
expect 2 "$RINGSCOPE" help nonsense
has "$err" "unknown command 'nonsense'"

# ---- an operation by the first digits of its id ----
expect 0 "$RINGSCOPE" gen -n 2 --steps 2 --seed 7 -o digits
expect 0 "$RINGSCOPE" ops --json digits
id=$(jq -r .op <<<"$out" | head -n 1)
for part in "${id:2:4}" "${id:2:5}" "${id:2}" "${id:0:6}" "$id"; do
    expect 0 "$RINGSCOPE" ops --op "$part" --json digits
    same "$(jq -r .op <<<"$out")" "$id"
done
expect 1 "$RINGSCOPE" ops --op "${id:2:3}" digits
has "$err" "four digits"

# ---- completion asks the program ----
# shellcheck source=completions/ringscope.bash
source "$root/completions/ringscope.bash"
complete_line() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _ringscope 2>/dev/null
    echo "${COMPREPLY[*]}"
}
same "$(complete_line "$RINGSCOPE" ru)" run
same "$(complete_line "$RINGSCOPE" run --print)" --print-env
same "$(complete_line "$RINGSCOPE" help ru)" run

# ---- output that cannot be written ----
if [ -w /dev/full ]; then
    "$RINGSCOPE" --help >/dev/full 2>err
    same "$?" 1
    has "$(cat err)" "cannot write to standard output: No space left on device"
fi
# The reader of the pipe has gone before anything is written.
mkfifo gone
true <gone &
exec 9>gone
wait $!
"$RINGSCOPE" --help >&9 2>err
same "$?" 0 # which had enough
exec 9>&-
same "$(cat err)" ""

# ---- run: what the command gets ----
cat >show.sh <<'END'
#!/bin/sh
echo "plugin=$NCCL_PROFILER_PLUGIN dir=$RINGSCOPE_DIR events=$RINGSCOPE_EVENTS memory=$RINGSCOPE_MEMORY limit=$RINGSCOPE_LIMIT keep=$RINGSCOPE_KEEP${RINGSCOPE_BUFFERS:+ buffers=$RINGSCOPE_BUFFERS}"
[ -z "$RECORD" ] || echo x >"$RINGSCOPE_DIR/host.$$.rsc"
exit "${1:-0}"
END
chmod +x show.sh
expect 0 "$RINGSCOPE" run -o rec -- ./show.sh
same "$out" "plugin=$(realpath "$PLUGIN") dir=$TMP/rec events= memory= limit= keep="
has "$err" "nothing was recorded in $TMP/rec"
[ -d rec ] || fail "the folder was not made"
expect 0 "$RINGSCOPE" run -o a/b --events ops --memory 16Mi --limit=2G --keep last --buffers disk ./show.sh
same "$out" "plugin=$(realpath "$PLUGIN") dir=$TMP/a/b events=ops memory=16Mi limit=2G keep=last buffers=disk"
# The environment stays, unless an option says otherwise.
expect 0 env RINGSCOPE_DIR="$TMP/mine" RINGSCOPE_EVENTS=all RINGSCOPE_KEEP=last "$RINGSCOPE" run --events net ./show.sh
has "$out" "dir=$TMP/mine events=net"
has "$out" "keep=last"
expect 0 env SLURM_JOB_ID=77 "$RINGSCOPE" run ./show.sh
has "$out" "dir=$TMP/ringscope-77 "
expect 0 "$RINGSCOPE" run ./show.sh
has "$out" "dir=$TMP/ringscope-run "
expect 0 env NCCL_PROFILER_PLUGIN=other "$RINGSCOPE" run ./show.sh
has "$err" "NCCL_PROFILER_PLUGIN=other is replaced"
has "$out" "plugin=$(realpath "$PLUGIN")"
expect 0 env NCCL_PROFILER_PLUGIN="$(realpath "$PLUGIN")" "$RINGSCOPE" run ./show.sh
lacks "$err" "is replaced"
# Options of the command are not ours.
expect 0 "$RINGSCOPE" run -o rec echo -o x --help
same "$out" "-o x --help"

# ---- run: where the recording is, said once ----
expect 0 env RECORD=1 "$RINGSCOPE" run -o rec -- ./show.sh
has "$err" "recorded in $TMP/rec (1 process so far); next: ringscope report $TMP/rec"
expect 0 "$RINGSCOPE" run -o rec -- ./show.sh
has "$err" "nothing was recorded" # the file from before is not of this run
for variable in SLURM_PROCID OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK RANK; do
    expect 0 env RECORD=1 "$variable=1" "$RINGSCOPE" run -o rec -- ./show.sh
    same "$err" ""
    expect 0 env RECORD=1 "$variable=0" "$RINGSCOPE" run -o rec -- ./show.sh
    has "$err" "next: ringscope report"
done
expect 0 env RECORD=1 SLURM_PROCID=0 RANK=3 "$RINGSCOPE" run -o rec -- ./show.sh
same "$err" ""
expect 0 env RECORD=1 "$RINGSCOPE" run -o "it's here" -- ./show.sh
has "$err" "ringscope report '$TMP/it'\\''s here'"
# The real recorder, in the processes that the command starts (the sanitizers meet it in tests of its own).
if [ -z "${SAN:-}" ]; then
    expect 0 "$RINGSCOPE" run -o sim -- "$RINGSCOPE" sim --ranks 2 --steps 1 -o sim
    has "$err" "recorded in $TMP/sim (2 processes so far); next: ringscope report $TMP/sim"
fi
# Many at once with one folder, which none has made yet.
pids=()
for rank in 0 1 2 3 4 5 6 7; do
    RANK=$rank RECORD=1 "$RINGSCOPE" run -o many -- ./show.sh $((rank + 10)) >/dev/null 2>"many.$rank" &
    pids+=($!)
done
for rank in 0 1 2 3 4 5 6 7; do
    wait "${pids[rank]}"
    same "$?" $((rank + 10))
done
set -- many/*.rsc
same "$#" 8
same "$(cat many.[1-7])" ""

# ---- run: how the command ended ----
for status in 0 1 7 255; do expect $status "$RINGSCOPE" run -o rec -- ./show.sh $status; done
expect 127 "$RINGSCOPE" run -o rec -- ./no-such-command
has "$err" "cannot run './no-such-command': No such file"
lacks "$err" "nothing was recorded"
echo "not a program" >plain
expect 126 "$RINGSCOPE" run -o rec -- ./plain
has "$err" "Permission denied"
expect 143 "$RINGSCOPE" run -o rec -- sh -c 'kill -TERM $$'
expect 137 "$RINGSCOPE" run -o rec -- sh -c 'kill -KILL $$'
# By the signal itself, not by a status that looks like one: bash tells them apart for its own children.
(
    ulimit -c 0
    "$RINGSCOPE" run -o rec -- sh -c 'kill -SEGV $$' 2>/dev/null
    true
) 2>died
has "$(cat died)" "Segmentation fault"

# Signals sent to ringscope reach the command, which may answer as it likes.
cat >trap.sh <<'END'
trap 'echo got; exit 5' "$1"
echo ready
while :; do sleep 0.02; done
END
for signal in INT TERM HUP QUIT USR1 USR2; do
    : >sig.out # else the last one's may be read
    # env resets INT and QUIT, which a shell ignores in its background children.
    env --default-signal=INT,QUIT "$RINGSCOPE" run -o rec -- sh trap.sh $signal >sig.out 2>/dev/null &
    pid=$!
    until grep -q ready sig.out || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
    kill -s $signal $pid
    wait $pid
    same "$? $signal" "5 $signal"
    same "$(tail -n 1 sig.out)" got
done
# What the caller ignores stays ignored (nohup), and SIGPIPE has its usual meaning in the command.
(trap '' HUP; exec "$RINGSCOPE" run -o rec -- sh -c 'kill -HUP $$; echo alive') >hup.out 2>/dev/null
same "$(cat hup.out)" alive
expect 141 env --default-signal=PIPE "$RINGSCOPE" run -o rec -- sh -c 'kill -PIPE $$'

# ---- run: usage, and folders that cannot be ----
expect 2 "$RINGSCOPE" run
has "$err" "no command to run"
expect 2 "$RINGSCOPE" run --events some true
expect 2 "$RINGSCOPE" run --keep both true
expect 2 "$RINGSCOPE" run --buffers nfs true
expect 2 "$RINGSCOPE" run --memory lots true
expect 2 "$RINGSCOPE" run --memory -5 true
expect 2 "$RINGSCOPE" run -o '' true
expect 0 "$RINGSCOPE" run --events 0xff ./show.sh
has "$out" "events=0xff"
expect 1 "$RINGSCOPE" run -o plain/x -- true
has "$err" "$TMP/plain: cannot create the folder"
expect 1 "$RINGSCOPE" run --plugin ./absent.so -- true
has "$err" "absent.so"

# ---- run --print-env ----
expect 0 "$RINGSCOPE" run -o "a'b \$x" --limit 1M --print-env
echo "$out" >env.sh
# shellcheck disable=SC2016 # the inner shell is to expand them
show='. ./env.sh; echo "$NCCL_PROFILER_PLUGIN|$RINGSCOPE_DIR|$RINGSCOPE_LIMIT|$RINGSCOPE_KEEP"'
same "$(env -i sh -c "$show")" "$(realpath "$PLUGIN")|$TMP/a'b \$x|1M|"
[ ! -e "a'b \$x" ] || fail "--print-env made the folder"
expect 0 "$RINGSCOPE" run --plugin /opt/only/there.so --print-env
has "$out" "export NCCL_PROFILER_PLUGIN='/opt/only/there.so'"
expect 2 "$RINGSCOPE" run --print-env true

# ---- an installation finds its plugin in ../lib ----
mkdir -p inst/bin inst/lib
cp "$RINGSCOPE" inst/bin/ringscope
expect 1 inst/bin/ringscope run --print-env
has "$err" "libnccl-profiler-ringscope.so is neither in"
cp "$PLUGIN" inst/lib/
expect 0 inst/bin/ringscope run --print-env
has "$out" "='$(realpath inst/lib)/libnccl-profiler-ringscope.so'"

[ $fails = 0 ]
