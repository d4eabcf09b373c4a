/* Definitions of an archive: what refers to what is there, in an order that readers can take. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "otf2_seen.h"

static OTF2_CallbackCode on_clock(void *u, uint64_t resolution, uint64_t offset, uint64_t length, uint64_t realtime)
{
    (void)u;
    all.resolution = resolution, all.offset = offset, all.length = length, all.realtime = realtime;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *u, OTF2_StringRef self, const char *text)
{
    (void)u;
    REACH(all.strings, all.nstrings, self);
    all.strings[self] = strdup(text);
    return OTF2_CALLBACK_SUCCESS;
}

/* Readers resolve names at once: a string must stand before what it names. */
static void named(OTF2_StringRef name, const char *what, uint64_t self)
{
    if (name >= all.nstrings || !all.strings[name]) COMPLAIN("%s %" PRIu64 " has no name", what, self);
}

static OTF2_CallbackCode on_paradigm(void *u, OTF2_Paradigm paradigm, OTF2_StringRef name, OTF2_ParadigmClass class)
{
    (void)u;
    named(name, "paradigm", paradigm);
    bool right = paradigm == OTF2_PARADIGM_MPI    ? class == OTF2_PARADIGM_CLASS_PROCESS
                 : paradigm == OTF2_PARADIGM_CUDA ? class == OTF2_PARADIGM_CLASS_ACCELERATOR
                                                  : false;
    if (!right) COMPLAIN("paradigm %u is of class %u", paradigm, class);
    all.known_paradigms |= UINT64_C(1) << paradigm;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_metric_member(void *u, OTF2_MetricMemberRef self, OTF2_StringRef name, OTF2_StringRef why,
                                          OTF2_MetricType type, OTF2_MetricMode mode, OTF2_Type value, OTF2_Base base,
                                          int64_t exponent, OTF2_StringRef unit)
{
    (void)u, (void)why, (void)type;
    named(name, "metric", self);
    named(unit, "unit of metric", self);
    bool right = mode == OTF2_METRIC_ACCUMULATED_START && value == OTF2_TYPE_UINT64 && base == OTF2_BASE_DECIMAL;
    if (!right || exponent || self >= 2) COMPLAIN("metric %u is of a wrong kind", self);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_metric_class(void *u, OTF2_MetricRef self, uint8_t n, const OTF2_MetricMemberRef *members,
                                         OTF2_MetricOccurrence occurrence, OTF2_RecorderKind kind)
{
    (void)u;
    bool right = !self && n == 2 && members[0] == 0 && members[1] == 1;
    if (!right || occurrence != OTF2_METRIC_SYNCHRONOUS || kind != OTF2_RECORDER_KIND_CPU)
        COMPLAIN("metric class %u is of a wrong kind", self);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_attribute(void *u, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef why,
                                      OTF2_Type type)
{
    (void)u, (void)type;
    named(name, "attribute", self);
    named(why, "attribute", self);
    if (!strcmp(all.strings[name], "operation")) all.attribute_op = self;
    if (!strcmp(all.strings[name], "start_unknown")) all.attribute_start = self;
    if (!strcmp(all.strings[name], "end_bounded")) all.attribute_end = self;
    if (!strcmp(all.strings[name], "open")) all.attribute_open = self;
    if (!strcmp(all.strings[name], "end_before")) all.attribute_before = self;
    if (!strcmp(all.strings[name], "end_after")) all.attribute_after = self;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_node(void *u, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef class,
                                 OTF2_SystemTreeNodeRef parent)
{
    (void)u;
    named(name, "node", self);
    named(class, "node", self);
    if (self != all.nnodes++) COMPLAIN("nodes of the system tree are not numbered from 0");
    if (parent != OTF2_UNDEFINED_SYSTEM_TREE_NODE && parent >= self) COMPLAIN("node %u comes before its parent", self);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location_group(void *u, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                           OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef node,
                                           OTF2_LocationGroupRef creator)
{
    (void)u;
    named(name, "location group", self);
    REACH(all.group_types, all.nlocation_groups, self);
    all.group_types[self] = type;
    bool gpu = type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR;
    if (node >= all.nnodes) COMPLAIN("location group %u lies on no node", self);
    if (gpu != (creator != OTF2_UNDEFINED_LOCATION_GROUP)) COMPLAIN("location group %u has a wrong creator", self);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *u, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                                     uint64_t events, OTF2_LocationGroupRef group)
{
    (void)u;
    named(name, "location", self);
    REACH(all.locations, all.nlocations, self);
    all.locations[self] = (struct location){.defined = true, .events = events, .group = group, .type = type};
    bool gpu = all.group_types[group] == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR;
    if (gpu != (type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM))
        COMPLAIN("location %" PRIu64 " is of a type that its group cannot hold", self);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location_property(void *u, OTF2_LocationRef location, OTF2_StringRef name, OTF2_Type type,
                                              OTF2_AttributeValue value)
{
    (void)u, (void)type;
    if (!strcmp(all.strings[name], "clock error (ns)") && value.uint64 > all.max_error) all.max_error = value.uint64;
    if (!strcmp(all.strings[name], "rank of the job")) all.locations[location].job_rank = value.uint64 + 1;
    if (!strcmp(all.strings[name], "rank of the communicator")) all.locations[location].comm_rank = value.uint64 + 1;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(void *u, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
                                   OTF2_StringRef why, OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin, uint32_t end)
{
    (void)u, (void)flags, (void)file, (void)begin, (void)end;
    named(name, "region", self);
    named(canonical, "region", self);
    named(why, "region", self);
    bool parallel = paradigm == OTF2_PARADIGM_MPI || paradigm == OTF2_PARADIGM_CUDA;
    if (parallel && !(all.known_paradigms >> paradigm & 1))
        COMPLAIN("region %u: paradigm %u is not told", self, paradigm);
    uint64_t n = all.nregions;
    REACH(all.roles, n, self);
    REACH(all.paradigms, all.nregions, self);
    all.roles[self] = role;
    all.paradigms[self] = paradigm;
    return OTF2_CALLBACK_SUCCESS;
}

/* The n-th of all that communicate stands for rank n of the job: each rank once, in their order, before all others. */
static void check_all(const struct group *g)
{
    uint64_t last = 0, least = UINT64_MAX;
    uint32_t i = 0;
    for (uint32_t k = 0; k < g->n; k++)
        if (g->members[k] >= all.nlocations || !all.locations[g->members[k]].defined) COMPLAIN("no location %u", k);
    if (all.complaints) return;
    for (; i < g->n && all.locations[g->members[i]].job_rank > last; i++) last = all.locations[g->members[i]].job_rank;
    for (uint32_t k = i; k < g->n; k++) {
        uint64_t rank = all.locations[g->members[k]].job_rank;
        uint32_t at = 0;
        while (at < i && all.locations[g->members[at]].job_rank != rank) at++;
        if (rank && at == i && rank < least) least = rank;
    }
    if (least != UINT64_MAX) COMPLAIN("rank %" PRIu64 " is not among the first that communicate", least - 1);
}

static OTF2_CallbackCode on_group(void *u, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
                                  OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t n, const uint64_t *members)
{
    (void)u, (void)flags;
    named(name, "group", self);
    if (paradigm != OTF2_PARADIGM_MPI) COMPLAIN("group %u is of paradigm %u", self, paradigm);
    REACH(all.groups, all.ngroups, self);
    struct group *g = &all.groups[self];
    *g = (struct group){.n = n, .type = type, .members = malloc((n + 1) * sizeof *members)};
    memcpy(g->members, members, n * sizeof *members);
    if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS && all.all != UINT32_MAX) COMPLAIN("two groups of all locations");
    if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
        all.all = self;
        check_all(g);
    }
    for (uint32_t i = 0; i < n && type == OTF2_GROUP_TYPE_COMM_GROUP; i++)
        if (all.all == UINT32_MAX || members[i] >= all.groups[all.all].n)
            COMPLAIN("group %u has no member %u", self, i);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *u, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                                 OTF2_CommRef parent, OTF2_CommFlag flags)
{
    (void)u, (void)flags;
    named(name, "communicator", self);
    REACH(all.comms, all.ncomms, self);
    all.comms[self] = (struct comm){.defined = true, .name = name, .group = group, .parent = parent};
    if (group >= all.ngroups || all.groups[group].type != OTF2_GROUP_TYPE_COMM_GROUP)
        COMPLAIN("communicator %u has no group", self);
    if (parent != OTF2_UNDEFINED_COMM && (parent >= all.ncomms || parent == self || !all.comms[parent].defined))
        COMPLAIN("communicator %u comes before its parent", self);
    const struct group *g = &all.groups[group], *places = &all.groups[all.all];
    for (uint32_t i = 0; i < g->n; i++) {
        uint64_t rank = all.locations[places->members[g->members[i]]].comm_rank;
        if (rank && rank != i + 1) COMPLAIN("communicator %u: member %u says that it is another", self, i);
    }
    const char *above = parent < self ? all.strings[all.comms[parent].name] : NULL;
    printf("{\"comm\":\"%s\",\"parent\":%s%s%s,\"members\":%u}\n", all.strings[name], above ? "\"" : "",
           above ? above : "null", above ? "\"" : "", group < all.ngroups ? all.groups[group].n : 0);
    return OTF2_CALLBACK_SUCCESS;
}

bool read_definitions(OTF2_Reader *reader)
{
    OTF2_GlobalDefReader *r = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, on_string);
    OTF2_GlobalDefReaderCallbacks_SetParadigmCallback(c, on_paradigm);
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(c, on_metric_member);
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(c, on_metric_class);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(c, on_attribute);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, on_node);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, on_location_group);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, on_location);
    OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(c, on_location_property);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, on_region);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, on_comm);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, r, c, NULL);
    OTF2_GlobalDefReaderCallbacks_Delete(c);
    uint64_t n;
    return OTF2_Reader_ReadAllGlobalDefinitions(reader, r, &n) == OTF2_SUCCESS;
}
