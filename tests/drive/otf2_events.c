/* Events of an archive: what each location and record must keep to by itself. */
#include <inttypes.h>
#include <stdlib.h>

#include "otf2_seen.h"

static uint64_t attribute(OTF2_AttributeList *list, uint32_t which)
{
    uint64_t value = 0;
    if (which == UINT32_MAX || !OTF2_AttributeList_TestAttributeByID(list, which)) return 0;
    OTF2_AttributeList_GetUint64(list, which, &value);
    return value;
}

static struct location *at(uint64_t id, uint64_t time)
{
    struct location *l = &all.locations[id];
    if (time < l->last) COMPLAIN("location %" PRIu64 " goes back in time at %" PRIu64, id, time);
    if (time < all.offset || time > all.offset + all.length) COMPLAIN("%" PRIu64 " is outside of the clock", time);
    l->last = time;
    l->seen++;
    return l;
}

/* The rank of a location in a communicator. */
static uint32_t rank_of(uint64_t id, uint32_t comm)
{
    const struct group *g = &all.groups[all.comms[comm].group], *places = &all.groups[all.all];
    for (uint32_t i = 0; i < g->n; i++)
        if (places->members[g->members[i]] == id) return i;
    COMPLAIN("location %" PRIu64 " is no member of communicator %u", id, comm);
    return 0;
}

static void inside(const struct location *l, uint64_t id, bool collective)
{
    uint8_t role = l->depth ? all.roles[l->regions[l->depth - 1]] : 0;
    bool right = collective ? role >= OTF2_REGION_ROLE_COLL_ONE2ALL && role <= OTF2_REGION_ROLE_COLL_OTHER
                            : role == OTF2_REGION_ROLE_POINT2POINT;
    if (!right) COMPLAIN("location %" PRIu64 ": a record outside of its region", id);
}

/* A part has ended; `list` is that of its end. */
static void part(const struct location *l, uint64_t op, uint64_t from, uint64_t to, bool start_unknown,
                 OTF2_AttributeList *list)
{
    bool bounded = attribute(list, all.attribute_end);
    all.parts++;
    all.start_unknown += start_unknown, all.end_bounded += bounded;
    uint64_t before = attribute(list, all.attribute_before), after = attribute(list, all.attribute_after);
    printf("{\"op\":\"0x%016" PRIx64 "\",\"start_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64 ",\"location\":%td,"
           "\"global_rank\":%" PRId64 "%s%s%s",
           op, from, to, l - all.locations, (int64_t)l->job_rank - 1, start_unknown ? ",\"start_unknown\":true" : "",
           bounded ? ",\"end_bounded\":true" : "", attribute(list, all.attribute_open) ? ",\"open\":true" : "");
    if (before) printf(",\"end_before_ns\":%" PRIu64, before);
    if (after) printf(",\"end_after_ns\":%" PRIu64, after);
    printf("}\n");
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef id, OTF2_TimeStamp time, void *u, OTF2_AttributeList *list,
                                  OTF2_RegionRef region)
{
    struct location *l = at(id, time);
    (void)u;
    all.enters++;
    if (region >= all.nregions) COMPLAIN("region %u is not defined", region);
    if (l->depth == MOST_OPEN) {
        COMPLAIN("location %" PRIu64 " is too deep", id);
        return OTF2_CALLBACK_INTERRUPT;
    }
    l->start_unknown[l->depth] = attribute(list, all.attribute_start);
    l->ops[l->depth] = all.paradigms[region] == OTF2_PARADIGM_MPI ? attribute(list, all.attribute_op) : 0;
    l->since[l->depth] = time;
    l->regions[l->depth++] = region;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef id, OTF2_TimeStamp time, void *u, OTF2_AttributeList *list,
                                  OTF2_RegionRef region)
{
    struct location *l = at(id, time);
    (void)u;
    if (!l->depth || l->regions[l->depth - 1] != region) {
        COMPLAIN("location %" PRIu64 " leaves region %u that it is not in", id, region);
        return OTF2_CALLBACK_INTERRUPT;
    }
    if (l->in_collective || (l->nrequests && l->depth == 1)) COMPLAIN("location %" PRIu64 ": something is open", id);
    l->depth--;
    if (all.paradigms[region] != OTF2_PARADIGM_MPI)
        printf("{\"region\":%d,\"start_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64 "}\n", (int)region, l->since[l->depth],
               time);
    if (l->ops[l->depth]) part(l, l->ops[l->depth], l->since[l->depth], time, l->start_unknown[l->depth], list);
    return OTF2_CALLBACK_SUCCESS;
}

/* What a rank puts in and gets out fits what the collective is. */
static void check_sizes(uint64_t id, OTF2_CollectiveOp op, uint32_t comm, uint32_t root, uint64_t sent,
                        uint64_t received)
{
    const struct group *g = &all.groups[all.comms[comm].group];
    uint64_t n = g->n;
    bool is_root = root != OTF2_COLLECTIVE_ROOT_NONE && rank_of(id, comm) == root, right = false;
    bool rooted = root != OTF2_COLLECTIVE_ROOT_NONE;
    switch (op) {
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
    case OTF2_COLLECTIVE_OP_ALLTOALL: right = !rooted && sent == received; break;
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLGATHERV: right = !rooted && sent == received / n; break;
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK: right = !rooted && received == sent / n; break;
    case OTF2_COLLECTIVE_OP_BCAST: right = rooted && !(is_root ? received : sent); break;
    case OTF2_COLLECTIVE_OP_REDUCE: right = rooted && received == (is_root ? sent : 0); break;
    case OTF2_COLLECTIVE_OP_GATHER: right = rooted && received == (is_root ? sent * n : 0); break;
    case OTF2_COLLECTIVE_OP_SCATTER: right = rooted && sent == (is_root ? received * n : 0); break;
    default: break;
    }
    if (!right) COMPLAIN("location %" PRIu64 ": a collective %u of wrong sizes or root %u", id, op, root);
}

static OTF2_CallbackCode on_metric(OTF2_LocationRef id, OTF2_TimeStamp time, void *u, OTF2_AttributeList *list,
                                   OTF2_MetricRef metric, uint8_t n, const OTF2_Type *types,
                                   const OTF2_MetricValue *values)
{
    struct location *l = at(id, time);
    (void)u, (void)list, (void)metric, (void)types;
    all.metrics++;
    if (n != 2 || values[0].unsigned_int < l->wait || values[1].unsigned_int < l->bytes)
        COMPLAIN("location %" PRIu64 ": a sum that falls", id);
    l->wait = values[0].unsigned_int;
    l->bytes = values[1].unsigned_int;
    return OTF2_CALLBACK_SUCCESS;
}

static uint64_t cap_collectives, cap_messages;

static void add_message(uint64_t id, uint32_t peer, uint32_t comm, uint32_t tag, uint64_t length, uint64_t op,
                        bool sent)
{
    uint32_t self = rank_of(id, comm);
    if (peer >= all.groups[all.comms[comm].group].n) COMPLAIN("location %" PRIu64 ": peer %u", id, peer);
    if (!op) COMPLAIN("location %" PRIu64 ": a message of no operation", id);
    ADD(all.messages, all.nmessages, cap_messages,
        (struct message){comm, sent ? self : peer, sent ? peer : self, tag, length, op, id, sent});
}

static OTF2_CallbackCode on_send(OTF2_LocationRef id, OTF2_TimeStamp time, void *u, OTF2_AttributeList *list,
                                 uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t length)
{
    struct location *l = at(id, time);
    (void)u, (void)list;
    inside(l, id, false);
    if (l->depth) add_message(id, peer, comm, tag, length, l->ops[l->depth - 1], true);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_recv(OTF2_LocationRef id, OTF2_TimeStamp time, void *u, OTF2_AttributeList *list,
                                 uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t length)
{
    struct location *l = at(id, time);
    (void)u, (void)list;
    inside(l, id, false);
    if (l->depth) add_message(id, peer, comm, tag, length, l->ops[l->depth - 1], false);
    return OTF2_CALLBACK_SUCCESS;
}

static void open_request(struct location *l, uint64_t id, uint64_t time, OTF2_AttributeList *list, char kind)
{
    if (!l->depth) COMPLAIN("request %" PRIu64 " outside of a region", id);
    if (l->nrequests == l->cap_requests) {
        l->cap_requests = l->cap_requests * 2 + 16;
        l->requests = realloc(l->requests, l->cap_requests * sizeof *l->requests);
        if (!l->requests) abort();
    }
    for (uint32_t i = 0; i < l->nrequests; i++)
        if (l->requests[i].id == id) COMPLAIN("request %" PRIu64 " is open already", id);
    bool start_unknown = attribute(list, all.attribute_start);
    l->requests[l->nrequests++] = (struct request){id, attribute(list, all.attribute_op), time, kind, start_unknown};
}

/* The operation of a request that ends. */
static uint64_t close_request(struct location *l, uint64_t id, uint64_t time, OTF2_AttributeList *list, char kind)
{
    uint32_t i = 0;
    while (i < l->nrequests && (l->requests[i].id != id || l->requests[i].kind != kind)) i++;
    if (i == l->nrequests) {
        COMPLAIN("request %" PRIu64 " ends and never began", id);
        return 0;
    }
    uint64_t op = l->requests[i].op;
    part(l, op, l->requests[i].start, time, l->requests[i].start_unknown, list);
    l->requests[i] = l->requests[--l->nrequests];
    return op;
}

static OTF2_CallbackCode on_isend(OTF2_LocationRef id, OTF2_TimeStamp time, void *u, OTF2_AttributeList *list,
                                  uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t length, uint64_t request)
{
    struct location *l = at(id, time);
    (void)u;
    inside(l, id, false);
    add_message(id, peer, comm, tag, length, attribute(list, all.attribute_op), true);
    open_request(l, request, time, list, 's');
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_isend_complete(OTF2_LocationRef id, OTF2_TimeStamp time, void *u, OTF2_AttributeList *list,
                                           uint64_t request)
{
    (void)u;
    close_request(at(id, time), request, time, list, 's');
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_irecv_request(OTF2_LocationRef id, OTF2_TimeStamp time, void *u, OTF2_AttributeList *list,
                                          uint64_t request)
{
    (void)u;
    open_request(at(id, time), request, time, list, 'r');
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_irecv(OTF2_LocationRef id, OTF2_TimeStamp time, void *u, OTF2_AttributeList *list,
                                  uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t length, uint64_t request)
{
    struct location *l = at(id, time);
    (void)u;
    inside(l, id, false);
    add_message(id, peer, comm, tag, length, close_request(l, request, time, list, 'r'), false);
    return OTF2_CALLBACK_SUCCESS;
}

static void add_collective(uint64_t id, uint32_t comm, uint8_t op, uint32_t root, uint64_t operation)
{
    if (root != OTF2_COLLECTIVE_ROOT_NONE && root >= all.groups[all.comms[comm].group].n) COMPLAIN("root %u", root);
    if (!operation) COMPLAIN("location %" PRIu64 ": a collective of no operation", id);
    ADD(all.collectives, all.ncollectives, cap_collectives,
        (struct collective){comm, rank_of(id, comm), op, root, all.ncollectives, operation, id});
}

static OTF2_CallbackCode on_collective(OTF2_LocationRef id, OTF2_TimeStamp time, void *u, OTF2_AttributeList *list)
{
    struct location *l = at(id, time);
    (void)u, (void)list;
    inside(l, id, true);
    if (l->in_collective) COMPLAIN("location %" PRIu64 ": a collective inside of another", id);
    l->in_collective = true;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_collective_end(OTF2_LocationRef id, OTF2_TimeStamp time, void *u, OTF2_AttributeList *list,
                                           OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
                                           uint64_t received)
{
    struct location *l = at(id, time);
    (void)u, (void)list;
    inside(l, id, true);
    check_sizes(id, op, comm, root, sent, received);
    if (!l->in_collective) COMPLAIN("location %" PRIu64 ": a collective ends and never began", id);
    l->in_collective = false;
    if (l->depth) add_collective(id, comm, op, root, l->ops[l->depth - 1]);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_icollective(OTF2_LocationRef id, OTF2_TimeStamp time, void *u, OTF2_AttributeList *list,
                                        uint64_t request)
{
    (void)u;
    open_request(at(id, time), request, time, list, 'c');
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_icollective_end(OTF2_LocationRef id, OTF2_TimeStamp time, void *u, OTF2_AttributeList *list,
                                            OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
                                            uint64_t received, uint64_t request)
{
    (void)u;
    check_sizes(id, op, comm, root, sent, received);
    add_collective(id, comm, op, root, close_request(at(id, time), request, time, list, 'c'));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_unknown(OTF2_LocationRef id, OTF2_TimeStamp time, void *u, OTF2_AttributeList *list)
{
    (void)u, (void)list;
    COMPLAIN("location %" PRIu64 ": an event of an unknown kind at %" PRIu64, id, time);
    return OTF2_CALLBACK_SUCCESS;
}

bool read_events(OTF2_Reader *reader)
{
    for (uint64_t i = 0; i < all.nlocations; i++)
        if (all.locations[i].defined) OTF2_Reader_SelectLocation(reader, i);
    OTF2_Reader_OpenEvtFiles(reader);
    for (uint64_t i = 0; i < all.nlocations; i++)
        if (all.locations[i].defined && !OTF2_Reader_GetEvtReader(reader, i)) COMPLAIN("no events of %" PRIu64, i);
    OTF2_GlobalEvtReader *r = OTF2_Reader_GetGlobalEvtReader(reader);
    OTF2_GlobalEvtReaderCallbacks *c = OTF2_GlobalEvtReaderCallbacks_New();
    OTF2_GlobalEvtReaderCallbacks_SetUnknownCallback(c, on_unknown);
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(c, on_enter);
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    OTF2_GlobalEvtReaderCallbacks_SetMetricCallback(c, on_metric);
    OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(c, on_send);
    OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(c, on_recv);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(c, on_isend);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCompleteCallback(c, on_isend_complete);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvRequestCallback(c, on_irecv_request);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(c, on_irecv);
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, on_collective);
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_collective_end);
    OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, on_icollective);
    OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, on_icollective_end);
    OTF2_Reader_RegisterGlobalEvtCallbacks(reader, r, c, NULL);
    OTF2_GlobalEvtReaderCallbacks_Delete(c);
    uint64_t n;
    bool fine = OTF2_Reader_ReadAllGlobalEvents(reader, r, &n) == OTF2_SUCCESS;
    OTF2_Reader_CloseGlobalEvtReader(reader, r);
    OTF2_Reader_CloseEvtFiles(reader);
    return fine;
}
