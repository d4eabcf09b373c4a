#!/bin/bash
# Processes and threads that come and go: many inits at once, reloads, forks, short-lived threads, and every way to end.
# sanitizers: address, thread
# shellcheck source=tests/drive/lib.sh
# one at a time: it loads the recorder
source "$(dirname "$0")/../drive/lib.sh"

some=60000 short=100000
if [ -n "${SAN:-}" ]; then some=6000 short=3000; fi

drive storm --mode storm --threads 64 --count "$some"
verify storm --lossless
same "$(seen storm inits)" 64 "storm: inits"
drive reload --mode reload --threads 2 --rounds 5 --count "$some"
verify reload --lossless
same "$(seen reload inits)" 5 "reload: inits"
drive crowd --threads 64 --count "$some"
verify crowd --lossless

# Short-lived threads give back what they took: memory stays, and so does the number of slots.
drive churn --mode churn --churn "$short" --at-once 16
verify churn --lossless --churn
growth=$(($(told churn rss_after) - $(told churn rss_warm)))
[ "$growth" -lt 2048 ] || [ -n "${SAN:-}" ] || fail "churn: $growth KiB more after $short threads"
[ "$(told churn rss_after)" -lt $((72 << 10)) ] || [ -n "${SAN:-}" ] || fail "churn: $(told churn rss_after) KiB in all"

# A program that closes all files, and takes their numbers for others. (TSan calls that a race, and right it is.)
if [[ ${SAN:-} != *thread* ]]; then
    drive closed --mode close-files --count "$some"
    verify closed --lossless
fi

# Ways to end, with an event left open.
for end in exit _exit exec thread; do
    if [ $end = thread ] && [ -n "${SAN:-}" ]; then continue; fi # their run-times do not let such a process end
    drive "end$end" --count $((some + 3)) --end $end
    if [ $end = exec ]; then
        mkdir next && mv endexec/*.1.rsc next/ && mv endexec.truth.exec next.truth
        verify next --lossless
    fi
    verify "end$end" --lossless
done
same "$(seen endexit state)" 3 "exit: closed"
[ -n "${SAN:-}" ] || same "$(seen endthread state)" 3 "main thread gone: closed"
same "$(seen end_exit state)" 1 "_exit: still running, as far as anybody knows"
[ -n "${SAN:-}" ] || want_status=134 drive endabort --count $((some + 3)) --end abort 2>/dev/null
[ -n "${SAN:-}" ] || verify endabort --lossless

# Standard streams that are closed: the recording must not become one of them.
drive streams --count "$some" <&- >&-
verify streams --lossless

# exit() while threads go on calling. LeakSanitizer's search of their thread-local variables crashes in libraries that were
# opened with dlopen (clang 14), and what running threads hold is no leak.
for threads in 1 4 16; do
    for rate in 100000 0; do
        drive running RINGSCOPE_MEMORY=16M ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" TSAN_OPTIONS=halt_on_error=1:report_thread_leaks=0 -- --threads "$threads" --rate "$rate" --seconds 0.3 --end running
        verify running --killed
    done
done

# Children: one that only calls, one that records, one that becomes another program. The parent's recording is unharmed.
# Not under sanitizers: TSan cannot follow the threads of a forked child, and ASan's allocator may be locked there for good.
if [ -z "${SAN:-}" ]; then
    drive fork -- --mode fork --threads 2 --rate 200000 --seconds 1
    files=(fork/*.rsc)
    same "${#files[@]}" 2 "fork: recordings"
    child=$(for f in "${files[@]}"; do if "$VERIFY" "$f" | grep -q "^comm=.*named child"; then echo "$f"; fi; done)
    mkdir child && mv "$child" child/ && mv fork.truth.child child.truth
    verify fork --lossless
    verify child --lossless
fi
finish
