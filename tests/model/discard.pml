/* What may not be kept is discarded when a recording closes (seal.c: discard_all()): counted as lost, buffer by buffer.
 *
 * A kill at any moment must leave the same number of losses and records. Two buffers of three records each, of which chunks
 * hold one; one loss from before. */
#define NO_ANNOUNCEMENT 1 /* wrong: losses are only counted as buffers are discarded */
#define ANNOUNCED_EARLY 2 /* wrong: `closing` is stored before the counts */
#include "mistake.pml"

#define BUFFERS 2
byte committed = 3, sealed[BUFFERS] = 1, lost = 1, lost_at_close;
bool closing;

proctype background()
{
    byte b;
    if :: mistake == ANNOUNCED_EARLY -> closing = true :: else fi;
    lost_at_close = lost + BUFFERS * (committed - 1);
    if :: mistake != NO_ANNOUNCEMENT -> closing = true :: else fi;
    do
    :: b < BUFFERS ->
        do
        :: lost < 1 + (b + 1) * (committed - 1) -> lost++ /* by class: more than one store */
        :: else -> break
        od;
        sealed[b] = committed;
        b++
    :: else -> break
    od
}

proctype after_kill()
{
    byte kept = BUFFERS;
    atomic {
        if
        :: closing -> assert(kept + lost_at_close == 1 + BUFFERS * committed)
        :: else -> assert(kept + (committed - sealed[0]) + (committed - sealed[1]) + lost == 1 + BUFFERS * committed)
        fi
    }
}

init
{
    atomic { choose_mistake(); run background(); run after_kill() }
}
