/* Memory as the weakest processor that we run on shows it: one thread's stores wait in a buffer and become visible in any
 * order, but for two on the same place, a release (visible after all stores before it) and a fence (waits for all).
 * The thread itself sees its own stores at once. Its loads are done in program order: where that matters they are
 * acquires. Only the thread under test has such a buffer; the others' stores are visible at once, since each of theirs
 * that matters stands before a system call, a lock or a fence.
 *
 * Places are numbered 0 to PLACES - 1 by the model that includes this. */
#include "mistake.pml"
#define PENDING 12

byte mem[PLACES];
byte at[PENDING], value[PENDING], is_release[PENDING]; /* oldest first */
byte pending;

inline store(place, what, release) { atomic {
    assert(pending < PENDING);
    at[pending] = place; value[pending] = what; is_release[pending] = release; pending++
} }
inline put(place, what) { store(place, what, 0) }
inline put_release(place, what) { store(place, what, 1) }
/* What the thread itself sees. */
inline get(place, to) { atomic {
    to = mem[place];
    k = 0;
    do
    :: k < pending -> if :: at[k] == place -> to = value[k] :: else fi; k++
    :: else -> break
    od
} }
#define FENCED (pending == 0) /* waited for: a fence */

/* Makes one store visible: any that may be next. */
proctype delivery()
{
    byte i, j;
    bool may;
end:
    do
    :: atomic {
        pending > 0 ->
        i = 0;
        do
        :: i + 1 < pending -> i++
        :: break
        od;
        may = true;
        j = 0;
        do
        :: j < i -> if :: at[j] == at[i] || is_release[i] -> may = false :: else fi; j++
        :: else -> break
        od;
        if
        :: may ->
            mem[at[i]] = value[i];
            do
            :: i + 1 < pending ->
                at[i] = at[i + 1]; value[i] = value[i + 1]; is_release[i] = is_release[i + 1]; i++
            :: else -> break
            od;
            pending--;
            at[pending] = 0; value[pending] = 0; is_release[pending] = 0
        :: else
        fi;
        i = 0; j = 0; may = false
    }
    od
}

/* What a kill leaves: a thread is stopped between two instructions, and what it has stored becomes visible. */
inline get_after_kill(place, to) { get(place, to) }
