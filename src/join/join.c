#include "join/join.h"

#include "join/clocks.h"
#include "join/collectives.h"
#include "join/early.h"
#include "join/ends.h"
#include "join/family.h"
#include "join/fanouts.h"
#include "join/one_host.h"
#include "join/overlay.h"
#include "join/overlay_facts.h"
#include "join/pairs.h"
#include "join/plausible.h"
#include "join/ranks.h"
#include "join/resync.h"
#include "join/run_span.h"
#include "join/waits.h"

enum rs_status rs_join(struct rs_model *m, bool align, struct rs_err *err)
{
    RS_TRY(rs_one_host(m, m->same_host, err));
    RS_TRY(rs_ranks_find(m, err));
    RS_TRY(rs_family_find(m, err));
    RS_TRY(rs_collectives_join(m, err));
    RS_TRY(rs_pairs_join(m, err));
    RS_TRY(rs_overlay_find(m, err)); /* what two tools saw is no two witnesses of their clocks */
    RS_TRY(rs_ranks_find(m, err)); /* nor two ranks */
    RS_TRY(rs_clocks_align(m, align, err));
    RS_TRY(rs_plausible_check(m, err));
    RS_TRY(rs_pairs_resync(m, err)); /* what order alone could not pair needs times */
    RS_TRY(rs_fanouts_join(m, err));
    rs_early_find(m);
    RS_TRY(rs_overlay_by_time(m, err));
    RS_TRY(rs_ranks_settle(m, err));
    RS_TRY(rs_facts_check(m, err));
    RS_TRY(rs_ends_bound(m, err));
    RS_TRY(rs_waits_find(m, err));
    rs_run_span_find(m);
    return RS_OK;
}
