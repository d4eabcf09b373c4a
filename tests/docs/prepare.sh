# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of tools/docs.sh
# What the commands of a page find: sourced by tools/docs.sh in the folder of the page. `page` is its name, `root` the sources,
# `work` a folder of all pages.
for each in tests docs examples; do ln -s "$root/$each" .; done

# NCCL and programs that use it, made once.
(
    flock 9
    [ -e "$work/bin/train" ] || {
        mkdir -p "$work/lib" "$work/bin" &&
            $CC -std=c11 -D_GNU_SOURCE -I"$root/src" -shared -fPIC "$root/tests/docs/nccl.c" -o "$work/lib/libnccl.so.2" -ldl &&
            $CC -std=c11 -D_GNU_SOURCE "$root/tests/docs/train.c" "$work/lib/libnccl.so.2" -o "$work/bin/train"
    }
) 9>"$work/lock"
export PATH=$root/tests/docs/bin:$work/bin:$PATH LD_LIBRARY_PATH=$work/lib
ln -s "$work/bin/train" .
: >train.py
: >train.sif
: >train.sqsh

# job OPTIONS...: a generated run of 8 ranks on 2 hosts, in 200 steps of 80 ms.
job() { "$RINGSCOPE" gen -n 8 --hosts 2 --steps 200 --compute 70000 --slow 5:9000 "$@" >/dev/null; }
case $page in
docs/clusters.md) cp -r "$BUILD/portable/root" ringscope-0.1.0-linux-x86_64 ;;
*/ringscope-export.* | docs/export.md) # recordings and traces of one job
    ln -s tests/data/h200-overlay/rec .
    ln -s tests/data/h200-overlay/kineto/rank0.json.gz .
    ;;
*/ringscope-diff.*) # six launches of a job, the last three with a slower GPU
    for run in 1 2 3; do
        "$RINGSCOPE" gen -n 4 --steps 30 --seed "$run" -o "old$run" >/dev/null
        "$RINGSCOPE" gen -n 4 --steps 30 --seed "1$run" --slow 2:2000 -o "new$run" >/dev/null
    done
    ln -s old1 before && ln -s new1 after && ln -s old1 a && ln -s new1 b
    ;;
docs/man/* | docs/timeline.md)
    job -o rec
    ln -s rec ringscope-run
    ;;
esac
ln -s tests/data/h200-overlay/kineto traces
ln -s tests/data/flight/ddp4 dumps
for rank in 0 1 2 3; do ln -s "tests/data/kineto/kineto_rank$rank.json.gz" "trace_rank$rank.json.gz"; done
ln -s tests/data/kineto .
ln -s tests/data/nccl_tests/all_reduce.txt all_reduce_perf.txt
ln -s tests/data/nccl_tests/all_gather_perf-old.txt all_gather_perf.txt
echo "SELECT count(*) FROM operations" >query.sql
# 0.1 s from chunk to chunk, of two stages of 0.08 s and 0.06 s
awk 'BEGIN { print "rank,chunk,name,start_s,end_s"
    for (i = 0; i < 9; i++) printf "0,%d,load,%g,%g\n0,%d,run,%g,%g\n", i, i * 0.1, i * 0.1 + 0.08, i, i * 0.1 + 0.08, i * 0.1 + 0.14 }' >stages.csv
mkdir ringscope-4711
