/* The recorder's settings, all from the environment, read once when the recording is opened. */
#ifndef RS_PLUGIN_CONFIG_H
#define RS_PLUGIN_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rs_config {
    char dir[3072]; /* RINGSCOPE_DIR, else ringscope-$SLURM_JOB_ID, else ringscope-run */
    int mask; /* RINGSCOPE_EVENTS: ops, net, all, off, or a number */
    size_t memory; /* RINGSCOPE_MEMORY: bytes a process, buffers and all; k M G */
    uint64_t limit; /* RINGSCOPE_LIMIT: bytes of the recording on disk; 0 = none */
    bool keep_last; /* RINGSCOPE_KEEP=last: past the limit overwrite the oldest; needs a limit */
    char test_host[64]; /* RINGSCOPE_TEST_HOST: another host's name, for tests */
    bool test_clock; /* RINGSCOPE_TEST_CLOCK=offset_ns:ppm: another host's clocks, for tests */
    int64_t test_offset_ns;
    double test_ppm;
    const char *bad; /* a setting that could not be understood (its name), or NULL; the default stands */
};

void rs_config_read(struct rs_config *config);

/* "ops", "net", "all", "off" or a number -> mask; false if it is none of them. */
bool rs_config_mask(const char *text, int *mask);

#endif
