/* What tests/drive/otf2.c saw of an archive. One global state: the program reads one archive and ends. */
#ifndef RS_TESTS_OTF2_SEEN_H
#define RS_TESTS_OTF2_SEEN_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { MOST_OPEN = 128 };

struct request {
    uint64_t id, op, start;
    char kind; /* s, r, c */
    bool start_unknown;
};

struct location {
    bool defined;
    uint64_t events, group, seen, last;
    uint64_t regions[MOST_OPEN], since[MOST_OPEN], ops[MOST_OPEN]; /* that are open; op 0: none */
    uint32_t depth, nrequests, cap_requests;
    struct request *requests;
    bool start_unknown[MOST_OPEN]; /* of those that are open */
    bool in_collective;
    uint64_t job_rank, comm_rank; /* properties, and 1; 0: none */
    uint64_t wait, bytes; /* metrics */
    uint32_t type;
};

struct group {
    uint32_t n, type;
    uint64_t *members;
};

struct comm {
    bool defined;
    uint32_t name, group, parent;
};

struct collective {
    uint32_t comm, rank, op, root;
    uint64_t nth, id, location;
};

struct message {
    uint32_t comm, src, dst, tag;
    uint64_t length, id, location;
    bool sent;
};

struct seen {
    struct location *locations;
    struct group *groups;
    struct comm *comms;
    char **strings;
    uint8_t *roles, *paradigms, *group_types;
    struct collective *collectives;
    struct message *messages;
    uint64_t known_paradigms; /* bits */
    uint64_t nlocations, ngroups, ncomms, nstrings, nregions, nlocation_groups, nnodes, ncollectives, nmessages;
    uint64_t resolution, offset, length, realtime, enters, parts, metrics, start_unknown, end_bounded, max_error;
    uint32_t attribute_op, attribute_start, attribute_end, attribute_open, attribute_before, attribute_after, all;
    unsigned complaints;
};
extern struct seen all;

#define COMPLAIN(...)                                                                                                  \
    do {                                                                                                               \
        if (all.complaints++ < 20) fprintf(stderr, "otf2: " __VA_ARGS__), fputc('\n', stderr);                         \
    } while (0)

/* Makes room for row `i`; rows are zeroed. */
void *reach(void *rows, uint64_t *n, uint64_t i, size_t bytes);
#define REACH(rows, n, i) ((rows) = reach(rows, &(n), i, sizeof *(rows)))
#define ADD(rows, n, cap, ...) (REACH(rows, cap, n), (rows)[(n)++] = (__VA_ARGS__))

bool read_definitions(OTF2_Reader *reader);
bool read_events(OTF2_Reader *reader);

#endif
