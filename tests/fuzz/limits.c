/* Limits for all fuzzers: many runs find more than a long one. */
#include "join/family.h"

__attribute__((constructor)) static void limits(void)
{
    rs_family_most_work = 6000;
}
