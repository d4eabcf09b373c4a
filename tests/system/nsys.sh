#!/bin/bash
# Exports of Nsight Systems through the commands: recognised, read without writing beside them, joined, damage said.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data/nsys
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

ops() { "$RINGSCOPE" ops --no-align --json "$@" 2>/dev/null; }

if ! "$RINGSCOPE" --version | grep -q 'sqlite *on'; then
    is "without SQLite" "$("$RINGSCOPE" ops "$data/nsys_rank0.sqlite" 2>&1 | grep -c 'this build cannot read')" 1
    exit $bad
fi

# One all-reduce: communicator and size from its payload, times from its kernel, on wall time. jq rounds such numbers: text.
one=$(ops "$data/nsys_rank0.sqlite")
is "operation" "$(jq -c '[.func, .comm, .seq, .bytes, .algo, .proto, .ranks[0].host, .ranks[0].pid, .ranks[0].device, .ranks[0].rank]' <<<"$one")" \
    '["AllReduce","0x007f8c496ae9f661",0,4194304,null,null,"n0",100,0,null]'
for time in '"enqueued_ns":1727743122001000000' '"launched_ns":1727743122001030000' '"start_ns":1727743122001045000' \
    '"end_ns":1727743122001745000'; do
    is "time $time" "$(grep -c -- "$time" <<<"$one")" 1
done
is "report" "$("$RINGSCOPE" report --json "$data/nsys_rank0.sqlite" 2>/dev/null |
    jq -c '[.operations.count, .by_func[0].func, .statistics]')" '[1,"AllReduce",null]'

# Two exports of one job: the operation is one, on two processes. Names of files mean nothing.
mkdir "$dir/job"
cp "$data/nsys_rank0.sqlite" "$dir/job/a"
cp "$data/nsys_rank0.sqlite" "$dir/job/b"
printf '\0' >> "$dir/job/b" # behind its last page: a copy would be read once
is "joined" "$(ops "$dir/job" | jq -c '[.func, (.ranks | length)]')" '["AllReduce",2]'

# Nothing is written, even where that could be.
is "files beside" "$(echo "$dir"/job/*)" "$dir/job/a $dir/job/b"
is "bytes" "$(cmp "$data/nsys_rank0.sqlite" "$dir/job/a" && echo same)" same

# Packed; with signs in its name that mean something in addresses; damaged; and cut.
odd="$dir/a b?c#d%20.sqlite"
cp "$data/nsys_rank0.sqlite" "$odd"
is "odd name" "$(ops "$odd" | jq -r .func)" AllReduce
if "$RINGSCOPE" --version | grep -q 'zlib *on'; then
    gzip -c "$data/nsys_rank0.sqlite" >"$dir/packed.gz"
    is "packed" "$(ops "$dir/packed.gz" | jq -r .func)" AllReduce
fi
head -c 9000 "$data/nsys_rank0.sqlite" >"$dir/cut.sqlite"
"$RINGSCOPE" ops "$dir/cut.sqlite" >"$dir/out" 2>"$dir/err"
is "cut: status" "$(($? < 128))" 1
is "cut: said" "$(grep -c "^ringscope ops: $dir/cut.sqlite: " "$dir/err")" 1

# What the job did with known ranks: 0 and 1 of 2, of which 1 is 2 ms later in each of three all-reduces.
if command -v sqlite3 >/dev/null; then
    mkdir "$dir/two"
    for rank in 0 1; do
        sql=""
        for step in 1 2 3; do
            at=$((step * 10000000)) corr=$((100 + step)) late=$((rank * 2000000))
            tid=$((72057595715649636 + rank * 16777216)) pid=$((72057595715649536 + rank * 16777216))
            sql+="INSERT INTO NVTX_EVENTS(start,end,eventType,textId,globalTid,domainId,jsonText)
                VALUES($at,$((at + 60000)),59,4,$tid,1,'{\"NCCL communicator ID\":5,\"Message size [bytes]\":1024}');
                INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start,end,globalTid,correlationId,nameId)
                VALUES($((at + 30000)),$((at + 40000)),$tid,$corr,3);
                INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start,end,deviceId,streamId,correlationId,globalPid,demangledName)
                VALUES($((at + 50000 + late)),$((at + 3000000 + step)),$rank,20,$corr,$pid,1);"
        done
        sql+="DELETE FROM NVTX_EVENTS WHERE start = 1000000; UPDATE NVTX_EVENTS SET globalTid = $tid WHERE eventType = 75;
            DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 55;
            INSERT INTO NVTX_EVENTS(start,end,eventType,text,globalTid,domainId,jsonText) VALUES(100,200,59,'ncclCommInitRank',
            $tid,1,'{\"NCCL communicator ID\":5,\"No. of ranks\":2,\"Rank\":$rank,\"CUDA device\":$rank}');"
        cp "$data/nsys_rank0.sqlite" "$dir/two/$rank.sqlite"
        chmod u+w "$dir/two/$rank.sqlite"
        sqlite3 "$dir/two/$rank.sqlite" "$sql"
    done
    is "two ranks" "$("$RINGSCOPE" ops --json "$dir/two" 2>/dev/null | jq -s -c 'map([.seq, .last_rank, .complete, .nranks])')" \
        '[[0,1,true,2],[1,1,true,2],[2,1,true,2]]'
    is "straggler" "$("$RINGSCOPE" report --json "$dir/two" 2>/dev/null |
        jq -c '.stragglers | map(select(.scope == "rank" and .cost_ns > 5900000 and .cost_ns < 6100000)) | map(.rank)')" '[1]'
fi
exit $bad
