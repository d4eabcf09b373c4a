/* Tracks of a Perfetto trace: a process a rank with its two counters, a track a communicator, and below them the lanes.
 *
 * Numbers (uuid): rows of ranks count from 1, then come communicators (by group of the timeline), counters (two a row),
 * and lanes as they come. Lanes of a process as such are threads. Borrows everything; one thread at a time. */
#ifndef RS_EXPORT_PERFETTO_TRACKS_H
#define RS_EXPORT_PERFETTO_TRACKS_H

#include "export/lane_numbers.h"
#include "export/perfetto/packets.h"
#include "export/rank_counters.h"
#include "export/rank_rows.h"
#include "timeline/timeline.h"

struct rs_pf_tracks {
    struct rs_packets *packets;
    const struct rs_timeline *t;
    const struct rs_rank_rows *rows;
    struct rs_wire track, inner; /* at hand */
    struct rs_strbuf name; /* at hand */
    uint64_t next; /* uuid of the next lane */
    struct rs_lane_numbers lanes; /* of the process at hand: uuids */
    uint32_t tid; /* the last thread id */
};

void rs_pf_tracks_open(struct rs_pf_tracks *k, struct rs_packets *p, const struct rs_timeline *t,
                       const struct rs_rank_rows *rows);
/* Clocks, processes, communicators, counters, flags. */
enum rs_status rs_pf_tracks_head(struct rs_pf_tracks *k, struct rs_err *err);
/* Before the lanes of another process. */
void rs_pf_tracks_process(struct rs_pf_tracks *k);
/* A lane's track, described when it is first asked for: its uuid. */
enum rs_status rs_pf_tracks_lane(struct rs_pf_tracks *k, const struct rs_bar_lane *lane, uint64_t *uuid,
                                 struct rs_err *err);
void rs_pf_tracks_free(struct rs_pf_tracks *k);

uint64_t rs_pf_tracks_counter(const struct rs_pf_tracks *k, uint32_t row, enum rs_rank_counter which);

#endif
