#!/bin/bash
# long
# Every option of every command changes something: what is accepted is not ignored. Each has a row below, two command lines
# that differ in the option alone and must not come to the same; an option without a row is a failure.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
data=$root/tests/data
cd "${TMP:?}" || exit 1
bad=0
say() {
    echo "$*"
    bad=1
}
unset NCCL_PROFILER_PLUGIN RINGSCOPE_DIR RINGSCOPE_EVENTS RINGSCOPE_MEMORY RINGSCOPE_LIMIT RINGSCOPE_KEEP RINGSCOPE_BUFFERS RINGSCOPE_DETAIL RINGSCOPE_TRIGGERS
export LC_ALL=C.UTF-8
on() { "$RINGSCOPE" --version | grep -q "$1 *on"; }

"$RINGSCOPE" gen -w mix --ranks 4 --hosts 2 --steps 4 --slow 1:900 -o mix >/dev/null || say "gen"
"$RINGSCOPE" gen --ranks 4 --hosts 2 --steps 12 --hang stalled-net:3@10 -o hung >/dev/null || say "gen"
"$RINGSCOPE" gen --ranks 64 --hosts 2 --steps 1 --events ops -o wide >/dev/null || say "gen"
for seed in 1 2; do "$RINGSCOPE" gen --ranks 2 --steps $((seed + 1)) --seed $seed -o two.$seed >/dev/null || say "gen"; done
two="$PWD/two.1 $PWD/two.2" mix=$PWD/mix hung=$PWD/hung wide=$PWD/wide traces=$data/kineto
comm=$("$RINGSCOPE" comms --json mix | jq -r 'select(.nranks == 2) | .comm' | head -n 1)
op=$("$RINGSCOPE" ops --json --func AllReduce mix | jq -r .op | head -n 1)

# What a command line comes to: what it prints (without how long it took), its exit status and the files that it leaves.
result() { # ARGUMENTS
    local words
    rm -rf place && mkdir place && cd place || exit 1
    printf 'taken\n' >taken.svg
    cp taken.svg taken.csv
    read -ra words <<<"$1"
    case $1 in
    serve*) served ;;
    sim*)
        "$RINGSCOPE" "${words[@]}" 2>&1 | sed 's/, [0-9.]* s,/,/'
        echo "${PIPESTATUS[0]}"
        [ -d rec ] || return
        "$RINGSCOPE" ops --json rec 2>/dev/null | jq -r '[.comm, .bytes, any(.ranks[].wait_ns; . > 300000000)] | @text' | sort -u
        "$RINGSCOPE" info --json rec | jq -c '[.events, [.process_list[].ended]]'
        return
        ;;
    *)
        case $1 in gen*there*) cp -r ../two.1 there ;; esac
        timeout 300 "$RINGSCOPE" "${words[@]}" 2>&1 </dev/null | sed 's/ of a job in [0-9.]* s (.*//'
        echo "${PIPESTATUS[0]}"
        ;;
    esac
    find . -type f ! -name taken.csv -exec sha256sum {} + | sort -k 2
}
# A server: what it prints about the timeline, the timeline itself, and whether the server is where it should be.
served() { # of result()
    PATH=$TMP/bin:$PATH "$RINGSCOPE" "${words[@]}" >address 2>said &
    local pid=$! i
    for ((i = 0; i < 600; i++)); do
        [ -s address ] && break
        kill -0 $pid 2>/dev/null || break
        sleep 0.05
    done
    for ((i = 0; i < 600; i++)); do
        [[ " ${words[*]} " != *" --open "* || -e opened ]] && break
        sleep 0.05
    done
    local url
    url=$(cat address)
    [ -z "$url" ] || curl -s -m 300 "${url%%/\?*}/bundle?${url#*\?}" | sha256sum
    kill $pid 2>/dev/null
    wait $pid
    sed -n '/operations/p; /^ringscope/p' said
    rm -f address said
}
mkdir bin
printf '#!/bin/sh\necho >opened\n' >bin/xdg-open
chmod +x bin/xdg-open

declare -A has_row known
# row COMMAND OPTION WITHOUT WITH: arguments behind the command.
row() {
    local without with
    has_row["$1 $2"]=1
    [[ " $4 " =~ [[:space:]]--(no-)?${2#no-}[[:space:]=] ]] || say "$1 --$2: the row does not give it: $4"
    [ "${known["$1 $3"]:-}" ] || known["$1 $3"]=$(result "$1 $3")
    without=${known["$1 $3"]}
    with=$(result "$1 $4")
    [ "$without" != "$with" ] || say "$1 --$2 changes nothing: '$3', '$4': $(printf '%s\n' "$with" | head -n 3)"
}

# ---- what commands share: COMMAND, and the words that make its most telling output ----
# Rows of a common option are the same for all: only the inputs differ.
share() { # COMMAND WORDS
    local command=$1 form=$2 in=$mix wall=$traces rank=0 chosen=$comm func=AllReduce option
    case $command in
    hang) in=$hung wall=$data/flight/hang-order rank=99 chosen=0x1234 func=Broadcast ;;
    clocks) func=Broadcast ;;
    esac
    for option in $("$RINGSCOPE" "$command" --list-opts | sed 's/^--//'); do
        case $option in
        rank) row "$command" rank "$form $in" "$form $in --rank $rank" ;;
        comm) row "$command" comm "$form $in" "$form $in --comm $chosen" ;;
        func) row "$command" func "$form $in" "$form $in --func $func" ;;
        from) row "$command" from "$form $in" "$form $in --from 10s" ;;
        to) row "$command" to "$form $in" "$form $in --to 1us" ;;
        run) row "$command" run "$form $two" "$form $two --run 0" ;;
        same-host) row "$command" same-host "$form $wall" "$form $wall --same-host" ;;
        align) row "$command" align "$form $in" "$form $in --no-align" ;;
        rows) row "$command" rows "$form $in" "$form $in --rows operations" ;;
        title) row "$command" title "$form $in" "$form $in --title $(seq -s - 3000)" ;;
        level) [ "$command" = ops ] || row "$command" level "$form $in" "$form $in --level ops" ;;
        esac
    done
}
for command in clocks comms critical hang overlap report whatif ops; do
    share $command --json
    row $command json "$mix" "--json $mix"
done
row ops level "$mix --op $op --tree" "$mix --op $op --tree --level ops"
share view "-o x.svg --open-rows"
on libevent && share serve ""
share export "--format chrome"

# ---- the others ----
row info json "$mix" "$mix --json"
row info run "$two" "$two --run 0"
row explain json "tie" "tie --json"

row report by "--json $mix" "--json --by comm $mix"
row report every "--json $mix" "--json --every STEP $mix"
row report table "$mix" "--table nccl-tests $mix"
row report link "$mix" "--link 100 $mix"
row report output "$mix" "--output new.svg $mix"
row report force "--output taken.svg $mix" "--output taken.svg --force $mix"
row report reference "$mix" "--reference $data/nccl_tests/all_reduce.txt $mix"
row report warmup "--json $hung" "--json --warmup 2 $hung"
row critical warmup "--json $hung" "--json --warmup 2 $hung"
row whatif warmup "--json $hung" "--json --warmup 2 $hung"
row whatif output "--take-out waits $mix" "--take-out waits --output x.json $mix"
row whatif force "--take-out waits -o taken.svg $mix" "--take-out waits -o taken.svg --force $mix"
row whatif take-out "--json $mix" "--json --take-out waits $mix"

row diff json "$mix $mix" "--json $mix $mix"
row diff against "$mix $mix $mix" "$mix --against $mix $mix"
row diff warmup "--json $hung $hung" "--json --warmup 2 $hung $hung"
row diff stage "--json $traces $traces" "--json --stage a=*ncclDevKernel* --stage b=*gemm* $traces $traces"
row diff fail-over "$mix $mix" "$mix $mix --fail-over 5%"
row diff save-baseline "$mix $mix" "--save-baseline base.json $mix $mix"
row diff force "--save-baseline taken.svg $mix" "--save-baseline taken.svg --force $mix"
row diff baseline "$mix" "--baseline $data/diff-h200/base.json.gz $mix"
row diff output "$mix $mix" "$mix $mix --output x.html"
row diff rank "--json $mix $mix" "--json $mix $mix --rank 0"
row diff comm "--json $mix $mix" "--json $mix $mix --comm $comm"
row diff func "--json $mix $mix" "--json $mix $mix --func AllReduce"
row diff from "--json $mix $mix" "--json $mix $mix --from 10s"
row diff to "--json $mix $mix" "--json $mix $mix --to 1us"
row diff run "--json ${two// /,} $mix" "--json ${two// /,} $mix --run 0"
row diff same-host "--json $traces $traces" "--json $traces $traces --same-host"
row diff align "--json $mix $mix" "--json $mix $mix --no-align"

row overlap stage "--json $traces" "--json --stage a=*ncclDevKernel* --stage b=*gemm* $traces"
printf 'rank,chunk,stage,start_ns,end_ns\n0,0,a,0,10\n0,0,b,10,20\n0,1,a,10,20\n0,1,b,20,30\n' >stages.csv
row overlap stages "" "--stages $PWD/stages.csv"
row overlap warmup "--json --stages $PWD/stages.csv" "--json --stages $PWD/stages.csv --warmup 0"
row overlap fail-under "--stages $PWD/stages.csv" "--stages $PWD/stages.csv --fail-under 1"
row overlap exact "$traces" "$traces --exact"
row overlap top "$traces" "$traces --top 1"

row ops at "$mix" "$mix --at 50ms"
row ops op "$mix" "$mix --op $op"
row ops tree "$mix --op $op" "$mix --op $op --tree"

row view output "$mix" "$mix --output x.svg"
row view text "$mix -o x.svg" "$mix -o x.svg --text"
row view force "$mix -o taken.svg" "$mix -o taken.svg --force"
row view most "$mix -o x.html" "$mix -o x.html --most 1"
row view relations "$mix -o x.svg --open-rows" "$mix -o x.svg --open-rows --relations none"
row view open-rows "$mix -o x.svg" "$mix -o x.svg --open-rows"
row view width "$mix" "$mix --width 60"
row view dark "$mix -o x.svg" "$mix -o x.svg --dark"
row view light "$mix -o x.svg --dark" "$mix -o x.svg --dark --light"
row view ascii "$mix" "$mix --ascii"
row view all-gpus "$wide" "$wide --all-gpus"
row view no-conclusion "$mix" "$mix --no-conclusion"

if on libevent; then
    row serve port "$mix --port 0" "$mix --port 70000"
    row serve open "$mix" "$mix --open"
fi

row export format "$mix" "$mix --format csv"
row export output "$mix --format csv" "$mix --format csv --output x.csv"
row export force "$mix -o taken.csv" "$mix -o taken.csv --force"
row export table "$mix --format csv" "$mix --format csv --table ranks"
row export kineto "$traces --format kineto" "$traces --format kineto --kineto $traces/kineto_rank0.json.gz"

if on sqlite; then
    query="select*from[events]"
    q() { echo "--json $1 $query ${*:2}"; }
    for option in "rank 0" "comm $comm" "func AllReduce" "from 10s" "to 1us" "level ops"; do
        # shellcheck disable=SC2086
        row sql ${option% *} "$(q "$mix")" "$(q "$mix" --$option)"
    done
    row sql run "$(q "$two")" "$(q "$two" --run 0)"
    row sql same-host "$(q "$traces")" "$(q "$traces" --same-host)"
    row sql align "$(q "$mix")" "$(q "$mix" --no-align)"
    row sql json "$mix $query" "$mix $query --json"
    row sql csv "$mix $query" "$mix $query --csv"
    row sql schema "operations" "--schema operations"
fi

row doctor json "" "--json"
row doctor output "" "--output x"
row doctor plugin "" "--plugin $data/README.md"
row run output "--print-env" "--print-env --output x"
row run events "--print-env" "--print-env --events ops"
row run detail "--print-env" "--print-env --detail 200ms:10s"
row run memory "--print-env" "--print-env --memory 16M"
row run limit "--print-env" "--print-env --limit 1G"
row run keep "--print-env" "--print-env --keep last"
row run buffers "--print-env" "--print-env --buffers disk"
row run plugin "--print-env" "--print-env --plugin /x.so"
row run print-env "-o x" "-o x --print-env"

g="-o rec --ranks 4"
row gen output "-o rec" "--output other"
row gen force "-o there" "-o there --force"
for option in "workload tpdp" "ranks 3" "hosts 1" "devices-per-process 2" "steps 3" "callbacks 300k" "buckets 2" "bytes 1Mi" \
    "compute 100" "channels 3" "net-steps 2" "as example" "events ops" "detail 1ms:20h" "api 6" "seed 7" "clock-offset 3" "drift 3" "wander 3" \
    "spread 0.2" "host-part 1.5" "noise gauss:90" "rank-noise 0.1" "run-noise 0.1" "jitter 40" "bias 40" "tails 0.5" "slow 1:900" "slow-factor 1:1.5" "slow-host 1:900" "slow-cpu 1:900" "slow-link 0-1:9" "mismatch 1@3" "late-credit 2:900" "overlap" "sporadic 1:0.5:900" "warm-up 2:900" "pause 1@3:900" "profiler all@3:900" "checkpoint all@5:900" \
    "drop 0.1" "late 1@3" "ring 1:20000" "no-recording 1" "hang stalled-net:3@10" "truth-times" "no-truth"; do
    row gen "${option% *}" "$g" "$g --$option"
done
row gen layers "$g -w tpdp" "$g -w tpdp --layers 2"
row gen microbatches "$g -w pipeline" "$g -w pipeline --microbatches 2"
row gen stages "$g -w pipeline" "$g -w pipeline --stages 2"
row gen schedule "$g -w pipeline" "$g -w pipeline --schedule 1f1b"
row gen chunks "$g -w pipeline --schedule interleaved" "$g -w pipeline --schedule interleaved --chunks 3"
row gen tensor "$g -w tpppdp" "$g -w tpppdp --tensor 1"
row gen eager "$g -w pipeline" "$g -w pipeline --eager 2Mi"
row gen no-world "$g -w tpdp" "$g -w tpdp --no-world"
row gen replays-unreported "$g -w graph" "$g -w graph --replays-unreported"

s="--count-only --steps 1 --speed 100 --hosts 2"
for option in "workload mix" "ranks 2" "ranks-per-process 2" "channels 3" "net-steps 2"; do
    row sim "${option% *}" "$s" "$s --$option"
done
row sim hosts "--count-only --steps 1 --speed 100" "--count-only --steps 1 --speed 100 --hosts 2"
row sim steps "--count-only --speed 100" "--count-only --speed 100 --steps 2"
row sim count-only "" "--count-only --steps 1 --speed 100"
s="-o rec --ranks 2 --steps 2 --speed 100"
row sim output "--ranks 2 --steps 1 --speed 100" "--ranks 2 --steps 1 --speed 100 --output rec"
row sim bytes "$s" "$s --bytes 1Mi"
row sim seed "$s" "$s --seed 2"
row sim events "$s" "$s --events ops"
row sim detail "$s" "$s --detail 1ms:20h"
row sim plugin "$s" "$s --plugin /nothing.so"
row sim slow "$s" "-o rec --ranks 2 --steps 1 --slow 1:400000"
row sim slow-cpu "$s" "-o rec --ranks 2 --steps 1 --slow-cpu 1:400000"
row sim kill-after "$s" "-o rec --ranks 2 --notice-seconds 0.1 --kill-after 1:10000"
# What changes times, ends and what is beside the recording has tests of its own.
for option in hang hang-seconds kill notice-seconds abort speed truth net pxn api ce no-destroy; do
    grep -qrE "sim .*--$option\b|--$option [^ ]+ .*sim\b" "$root/tests/system" --include='*.sh' --exclude=options.sh || say "sim --$option: no test gives it"
    has_row["sim $option"]=1
done

# ---- none is left out ----
for command in $("$RINGSCOPE" --list-cmds); do
    for option in $("$RINGSCOPE" "$command" --list-opts | sed 's/^--//'); do
        [ "$option" = help ] || [ "${has_row["$command $option"]:-}" ] || say "$command --$option: no row"
    done
done
exit $bad
