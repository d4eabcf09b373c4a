#include "fields/report.h"

#include <math.h>

/* ---- who: host, pid, device of a rank; of a whole host its name alone ---- */

static const char *host_of(const struct rs_report *r, uint32_t host)
{
    return host != RS_NONE ? rs_host_name(r->view.model, host) : NULL;
}

static struct rs_value pid_of(const struct rs_report *r, uint32_t rank_id)
{
    const struct rs_model *m = r->view.model;
    return rank_id != RS_NONE ? rs_v_pid(m->procs[m->ranks[rank_id].proc].pid) : rs_v_null();
}

static int32_t device_of(const struct rs_report *r, uint32_t rank_id)
{
    return rank_id != RS_NONE ? r->view.model->ranks[rank_id].device : -1;
}

static int32_t rank_of(const struct rs_report *r, uint32_t rank_id)
{
    return rank_id != RS_NONE ? r->view.model->ranks[rank_id].number : -1;
}

#define MODEL r->report->view.model

/* ---- stragglers, lateness ---- */

void rs_straggler_fields_make(struct rs_straggler_fields *r, const struct rs_report *report,
                              const struct rs_straggler *row)
{
    *r = (struct rs_straggler_fields){.report = report, .row = row};
    uint32_t member = row->rank_id != RS_NONE ? MODEL->ranks[row->rank_id].member : RS_NONE;
    r->uuid = rs_uuid_text(member != RS_NONE ? MODEL->members[member].uuid : NULL, r->uuid_text);
}

#define RS_ROWS_FILE "fields/straggler.inc"
#define RS_ROW struct rs_straggler_fields
#define RS_GET(id) straggler_##id
#define RS_FIELDS static const struct rs_out_field straggler[]
#include "fields/table.inc"

const struct rs_out_table rs_out_straggler = {
    "straggler", "report --json: stragglers[]", straggler, sizeof straggler / sizeof *straggler, NULL, NULL};

#define RS_ROWS_FILE "fields/lateness.inc"
#define RS_ROW struct rs_late_fields
#define RS_GET(id) late_##id
#define RS_FIELDS static const struct rs_out_field lateness[]
#include "fields/table.inc"

const struct rs_out_table rs_out_lateness = {
    "lateness", "report --json: lateness[]", lateness, sizeof lateness / sizeof *lateness, NULL, NULL};

/* ---- findings ---- */

static bool finding_next_rank(const void *row, uint32_t *at, struct rs_value *item)
{
    const struct rs_finding_fields *r = row;
    if (*at >= r->row->nranks) return false;
    *item = rs_v_known(rank_of(r->report, r->row->ranks[(*at)++]));
    return true;
}

#define RS_ROWS_FILE "fields/finding.inc"
#define RS_ROW struct rs_finding_fields
#define RS_GET(id) finding_##id
#define RS_FIELDS static const struct rs_out_field finding[]
#include "fields/table.inc"

const struct rs_out_table rs_out_finding = {
    "finding", "report --json: findings[]", finding, sizeof finding / sizeof *finding, NULL, NULL};

/* ---- the network ---- */

static struct rs_value between_hosts(enum rs_link_place place)
{
    return place == RS_LINK_UNKNOWN ? rs_v_null() : rs_v_bool(place == RS_LINK_BETWEEN_HOSTS);
}

#define RS_ROWS_FILE "fields/network.inc"
#define RS_ROW struct rs_link_fields
#define RS_GET(id) link_##id
#define RS_FIELDS static const struct rs_out_field network[]
#include "fields/table.inc"

const struct rs_out_table rs_out_network = {
    "network pair", "report --json: network[]", network, sizeof network / sizeof *network, NULL, NULL};

static const char *const slow_scopes[] = {[RS_SLOW_LINK] = "link",
                                          [RS_SLOW_SENDER] = "sender",
                                          [RS_SLOW_RECEIVER] = "receiver",
                                          [RS_SLOW_SENDING_HOST] = "sending_host",
                                          [RS_SLOW_RECEIVING_HOST] = "receiving_host"};

#define LINK (&r->report->network.rows[r->row->row])

static bool is_from(const struct rs_slow_fields *r)
{
    return r->row->scope != RS_SLOW_RECEIVER && r->row->scope != RS_SLOW_RECEIVING_HOST;
}

static bool is_to(const struct rs_slow_fields *r)
{
    return r->row->scope != RS_SLOW_SENDER && r->row->scope != RS_SLOW_SENDING_HOST;
}

static bool names_rank(const struct rs_slow_fields *r)
{
    return r->row->scope != RS_SLOW_SENDING_HOST && r->row->scope != RS_SLOW_RECEIVING_HOST;
}

/* The rank that names it, or whose host does. */
static uint32_t slow_id(const struct rs_slow_fields *r)
{
    return is_from(r) ? LINK->rank_id : LINK->peer_id;
}

static uint32_t far_host(const struct rs_slow_fields *r)
{
    return is_from(r) ? r->row->peer_host : r->row->host;
}

#define RS_ROWS_FILE "fields/slow_link.inc"
#define RS_ROW struct rs_slow_fields
#define RS_GET(id) slow_##id
#define RS_FIELDS static const struct rs_out_field slow_link[]
#include "fields/table.inc"

const struct rs_out_table rs_out_slow_link = {
    "slow link", "report --json: slow_links[]", slow_link, sizeof slow_link / sizeof *slow_link, NULL, NULL};

/* ---- functions ---- */

#define SIZE(bytes) r->row->unsized ? rs_v_null() : rs_v_uint(r->row->bytes)

static struct rs_value count_of(const struct rs_func_fields *r)
{
    uint64_t count;
    return rs_func_row_count(MODEL, r->row, &count) ? rs_v_uint(count) : rs_v_null();
}

#define RS_ROWS_FILE "fields/function.inc"
#define RS_ROW struct rs_func_fields
#define RS_GET(id) func_##id
#define RS_FIELDS static const struct rs_out_field function[]
#include "fields/table.inc"

const struct rs_out_table rs_out_function = {
    "function", "report --json: by_func[]", function, sizeof function / sizeof *function, NULL, NULL};
