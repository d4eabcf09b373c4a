/* A buffer that goes round: filled, sealed, used again (buffers.c: rs_buffer_prepare(); seal.c: seal(); trace/live.c).
 *
 * At any moment a kill must leave each committed record exactly once: in a chunk, or in the live file beyond what is sealed.
 * And what a reader of the running process takes for (slot, generation) must be theirs. The record `i` of generation `g`
 * has the word 10 g + i; odd generations are of slot 1, even ones of slot 0. */
#define LOOSE_BEGIN 1 /* wrong: generation 0 may be seen after what is changed behind it */
#define RELEASES_BEGIN 2 /* wrong: after the words of records, though not after the rest of the header */
#define LOOSE_END 3 /* wrong: the new generation may be seen before what it stands for */
#define LOOSE_COMMIT 4 /* wrong: the commit may be seen before the record */
#define REUSE_EARLY 5 /* wrong: the buffer is given back before its chunk is written */
#define SEALED_EARLY 6 /* wrong: `sealed` is stored before the chunk is written */

#define GENERATION 0
#define COMMIT 1
#define SEALED 2
#define SLOT 3
#define WORD0 4
#define WORD1 5
#define SHOWN 6 /* slot.buffer */
#define PLACES 7
#include "memory.pml"

#define GENERATIONS 2
byte committed[GENERATIONS + 1]; /* by the thread, by generation */
byte chunk[GENERATIONS + 1]; /* words of each generation that chunks of the file hold */
bool is_free = true, is_full;

proctype thread()
{
    byte k, g;
    do
    :: g < GENERATIONS ->
        atomic { is_free -> is_free = false }
        g++;
        put(GENERATION, 0);
        FENCED || mistake == LOOSE_BEGIN || mistake == RELEASES_BEGIN; /* of stores: atomic_thread_fence(release) */
        store(COMMIT, 0, mistake == RELEASES_BEGIN);
        store(SEALED, 0, mistake == RELEASES_BEGIN);
        store(SLOT, g % 2, mistake == RELEASES_BEGIN);
        store(GENERATION, g, mistake != LOOSE_END);
        put_release(SHOWN, 1);
        put(WORD0, 10 * g);
        atomic { store(COMMIT, 1, mistake != LOOSE_COMMIT); committed[g] = 1 }
        put(WORD1, 10 * g + 1);
        atomic { store(COMMIT, 2, mistake != LOOSE_COMMIT); committed[g] = 2 }
        put(SHOWN, 0);
        FENCED; /* the stack of full buffers: a release, and an acquire of the other side */
        is_full = true
    :: else -> break
    od
}

proctype background()
{
    byte g, to, sealed_generation, sealed; /* what it knows itself */
    bool whole;
end:
    do
    :: atomic {
            is_full || mem[SHOWN] -> /* of a buffer that is handed in meanwhile it stays the owner: it alone gives back */
            whole = is_full;
            g = mem[GENERATION]
        }
        if
        :: sealed_generation != g -> sealed_generation = g; sealed = 0
        :: else
        fi;
        to = mem[COMMIT];
        assert(to < 1 || sealed > 0 || mem[WORD0] == 10 * g);
        assert(to < 2 || sealed > 1 || mem[WORD1] == 10 * g + 1);
        if
        :: mistake == REUSE_EARLY && whole -> is_full = false; is_free = true
        :: mistake == SEALED_EARLY -> mem[SEALED] = to
        :: else
        fi;
        chunk[g] = to; /* pwritev */
        sealed = to;
        if
        :: mistake != REUSE_EARLY ->
            mem[SEALED] = to;
            if :: whole -> is_full = false; is_free = true :: else fi
        :: else
        fi
    od
}

/* Of the running process; once is enough, since it may come at any moment. */
proctype reader()
{
    byte first, second, words, slot, word0, word1;
    first = mem[GENERATION];
    words = mem[COMMIT];
    slot = mem[SLOT];
    word0 = mem[WORD0];
    word1 = mem[WORD1];
    second = mem[GENERATION];
    if
    :: first && first == second ->
        assert(!words || slot == first % 2);
        assert(words < 1 || word0 == 10 * first);
        assert(words < 2 || word1 == 10 * first + 1)
    :: else
    fi
}

/* Of what a kill leaves. */
proctype after_kill()
{
    byte k, g, current, words, from, kept;
    atomic {
        get_after_kill(GENERATION, current);
        get_after_kill(COMMIT, words);
        get_after_kill(SEALED, from);
        g = 1;
        do
        :: g <= GENERATIONS ->
            kept = chunk[g];
            if
            :: current == g ->
                if :: from < chunk[g] -> from = chunk[g] :: else fi;
                if :: words > from -> kept = kept + words - from :: else fi
            :: else
            fi;
            assert(kept == committed[g]);
            g++
        :: else -> break
        od
    }
}

init
{
    atomic { choose_mistake(); run delivery(); run thread(); run background(); run reader(); run after_kill() }
}
