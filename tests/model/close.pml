/* The end of a recording, while a thread calls (buffers.c: rs_pool_close(), rs_buffer_next(), rs_lost(); record.h).
 *
 * Each callback must end up as exactly one of: committed before the last sealing, counted as lost before it, counted as
 * late. The thread makes CALLS callbacks; the closer closes at any moment. */
#define NO_BARRIER 1 /* wrong: the closer does not make the thread pass a barrier */
#define NO_WAIT 2 /* wrong: it does not wait for who is inside */
#define LEAVE_EARLY 3 /* wrong: `inside` is cleared without a release, and may be seen before the commit */
#define NO_SECOND_LOOK 4 /* wrong: who shows a new buffer does not look again whether the recording is open */

#define INSIDE 0 /* slot.inside */
#define LIMIT 1 /* buffer.limit, 0 or 1 */
#define COMMIT 2
#define BUFFER 3 /* slot.buffer */
#define LOST 4 /* slot.lost */
#define OPEN 5
#define PLACES 6
#include "memory.pml"

#define CALLS 3
byte made, late, kept, lost;
bool sealed, ended;

#define leave() store(INSIDE, 0, mistake != LEAVE_EARLY)

proctype thread()
{
    byte k, v;
    bool has_buffer, found;
    do
    :: made < CALLS ->
        found = false;
        if /* the fast path */
        :: has_buffer ->
            put(INSIDE, 1);
            get(LIMIT, v);
            if
            :: v -> found = true
            :: else -> leave()
            fi
        :: else
        fi;
        if /* the slow path */
        :: !found ->
            put(INSIDE, 1);
            FENCED;
            get(OPEN, v);
            if
            :: v && !has_buffer -> /* takes a buffer and shows it */
                put(LIMIT, 1);
                put_release(BUFFER, 1);
                FENCED;
                if
                :: mistake != NO_SECOND_LOOK -> get(OPEN, v)
                :: else
                fi;
                if
                :: v -> has_buffer = true; found = true
                :: else -> put(LIMIT, 0); leave()
                fi
            :: v && has_buffer -> found = true
            :: v -> leave() /* there is no buffer left */
            :: else -> leave()
            fi
        :: else
        fi;
        if
        :: found ->
            get(COMMIT, v);
            put_release(COMMIT, v + 1);
            leave()
        :: else ->
            put(INSIDE, 1);
            FENCED;
            get(OPEN, v);
            if
            :: v -> get(LOST, v); put(LOST, v + 1)
            :: else -> late++
            fi;
            leave()
        fi;
        made++
    :: else -> break
    od;
    FENCED;
    ended = true
}

proctype closer()
{
    mem[OPEN] = 0;
    if
    :: mem[BUFFER] -> mem[LIMIT] = 0
    :: else
    fi;
    /* membarrier: everything that the thread stored so far is visible; its loads from here on come after */
    pending == 0 || mistake == NO_BARRIER;
    mem[INSIDE] == 0 || mistake == NO_WAIT;
    atomic { kept = mem[COMMIT]; lost = mem[LOST]; sealed = true }
}

init
{
    atomic { choose_mistake(); mem[OPEN] = 1; run delivery(); run thread(); run closer() }
    sealed && ended;
    assert(kept + lost + late == CALLS)
}
