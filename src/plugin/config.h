/* The recorder's settings, all from the environment, read once when the recording is opened. */
#ifndef RS_PLUGIN_CONFIG_H
#define RS_PLUGIN_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/settings.h"

enum rs_buffers {
    RS_BUFFERS_SHM, /* a file in memory: in a tmpfs folder, or /dev/shm; else private memory */
    RS_BUFFERS_DISK, /* a disk before those */
    RS_BUFFERS_MEMORY, /* private memory */
};

struct rs_config {
    char dir[2944]; /* RINGSCOPE_DIR, else ringscope-$SLURM_JOB_ID, else ringscope-run; "": a path that is too long */
    int mask; /* RINGSCOPE_EVENTS: ops, net, all, off, or a number */
    struct rs_detail detail; /* RINGSCOPE_DETAIL: window:period, or always */
    uint32_t triggers; /* RINGSCOPE_TRIGGERS: windows per hour that unusual intervals may open */
    size_t memory; /* RINGSCOPE_MEMORY: bytes per process, everything included */
    uint64_t limit; /* RINGSCOPE_LIMIT: bytes of the recording on disk; 0 = none */
    bool keep_last; /* RINGSCOPE_KEEP=last: past the limit overwrite the oldest; needs a limit */
    enum rs_buffers buffers; /* RINGSCOPE_BUFFERS: where the buffers are (places.h) */
    char test_host[64]; /* RINGSCOPE_TEST_HOST: another host's name, for tests */
    bool test_clock; /* RINGSCOPE_TEST_CLOCK=offset_ns:ppm: another host's clocks, for tests */
    int64_t test_offset_ns;
    double test_ppm;
    char bad[192]; /* settings that are invalid (the default is used) or out of range (the nearest bound is used) */
};

void rs_config_read(struct rs_config *config);

#endif
