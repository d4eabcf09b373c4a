/* Sends and their receives.
 *
 * NCCL gives them no number: the i-th send from src to dst on a communicator matches the i-th receive at dst from src.
 * If both recordings are complete, this is the whole join. If they lost some, it holds up to the first loss, and the
 * rest is left to rs_pairs_resync() (join/resync.h), which needs aligned clocks. Sends and receives of Kineto traces,
 * which begin anywhere, are numbered by their importer (foreign/kineto/streams.h); those without a number are left as
 * well. A stream is all that goes from one rank to another on one communicator. Streams belong to the caller. One
 * thread. */
#ifndef RS_JOIN_PAIRS_H
#define RS_JOIN_PAIRS_H

#include "model/model.h"

struct rs_stream {
    uint32_t comm;
    int32_t src, dst;
    uint32_t sends, nsends; /* parts[sends .. sends + nsends), in the order of the sender */
    uint32_t recvs, nrecvs;
};

struct rs_streams {
    struct rs_stream *rows;
    uint32_t n, cap;
    uint32_t *parts;
};

/* All streams of the model. Parts whose rank or peer is unknown, and those of a second recording of the same rank, are
 * in none. */
void rs_streams_init(struct rs_streams *s, const struct rs_model *m);
void rs_streams_free(struct rs_streams *s);

/* Creates operations for what can be paired by order alone. */
void rs_pairs_join(struct rs_model *m);

/* A pair as a new operation; one of the parts may be RS_NONE. */
void rs_pair_add(struct rs_model *m, uint32_t send, uint32_t recv, uint32_t index, uint8_t confidence);
/* Bytes of a send or receive. */
uint64_t rs_part_bytes(const struct rs_model *m, uint32_t part);

#endif
