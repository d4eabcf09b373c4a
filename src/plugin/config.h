/* The recorder's settings, all from the environment, read once when the recording is opened. */
#ifndef RS_PLUGIN_CONFIG_H
#define RS_PLUGIN_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rs_buffers {
    RS_BUFFERS_SHM, /* memory that files stand for: a tmpfs folder, /dev/shm; else private memory */
    RS_BUFFERS_DISK, /* a disk before those */
    RS_BUFFERS_MEMORY, /* private memory */
};

struct rs_config {
    char dir[2944]; /* RINGSCOPE_DIR, else ringscope-$SLURM_JOB_ID, else ringscope-run; "": a path that is too long */
    int mask; /* RINGSCOPE_EVENTS: ops, net, all, off, or a number */
    size_t memory; /* RINGSCOPE_MEMORY: bytes a process, buffers and all */
    uint64_t limit; /* RINGSCOPE_LIMIT: bytes of the recording on disk; 0 = none */
    bool keep_last; /* RINGSCOPE_KEEP=last: past the limit overwrite the oldest; needs a limit */
    enum rs_buffers buffers; /* RINGSCOPE_BUFFERS: where they live (places.h) */
    char test_host[64]; /* RINGSCOPE_TEST_HOST: another host's name, for tests */
    bool test_clock; /* RINGSCOPE_TEST_CLOCK=offset_ns:ppm: another host's clocks, for tests */
    int64_t test_offset_ns;
    double test_ppm;
    char
        bad[192]; /* names of settings that were not understood (their defaults stand) or out of bounds (the nearest) */
};

void rs_config_read(struct rs_config *config);

#endif
