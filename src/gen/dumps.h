/* A generated process as dumps of NCCL's example profiler (of 2.28): one file per communicator and rank.
 *
 * Slots pass it the callbacks instead of recording them; all are kept until the end, so memory grows with the job. It
 * imitates the profiler: host times are us since an init of the process and so differ between processes by seconds,
 * calls and launches have no begin, channels other than 0 no end, and a group call with its contents is in the file of
 * its first communicator. Pools do not run out here. One thread. */
#ifndef RS_GEN_DUMPS_H
#define RS_GEN_DUMPS_H

#include "base/err.h"
#include "gen/host.h"

struct rs_gen_dump;

/* Its clock reads `ns` at true time `t`. */
struct rs_gen_dump *rs_gen_dump_new(struct rs_gen_host *host, uint32_t pid, int64_t t, int64_t ns);
void rs_gen_dump_free(struct rs_gen_dump *d); /* NULL is fine */

/* A communicator of the process: context `ctx` is rank `rank` of `hash`; and its end. */
void rs_gen_dump_comm(struct rs_gen_dump *d, uint32_t ctx, uint64_t hash, int rank);
void rs_gen_dump_comm_end(struct rs_gen_dump *d, uint32_t ctx, int64_t t);

/* The callbacks; kinds and arguments are those of a recording. Returns the handle. */
uint64_t rs_gen_dump_start(struct rs_gen_dump *d, int64_t t, unsigned kind, uint64_t parent, uint32_t ctx, int rank,
                           uint64_t small, const uint64_t *args, int nargs);
void rs_gen_dump_stop(struct rs_gen_dump *d, int64_t t, uint64_t handle);
void rs_gen_dump_state(struct rs_gen_dump *d, int64_t t, uint64_t handle, unsigned state, uint64_t arg);

/* Writes all files of the process into `dir`. */
enum rs_status rs_gen_dump_write(struct rs_gen_dump *d, const char *dir, struct rs_err *err);

#endif
