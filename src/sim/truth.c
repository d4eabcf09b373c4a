#include "sim/truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/json.h"
#include "sim/fakecuda.h"
#include "sim/process.h"

static const char *const type_names[RS_NCCL_TYPE_BITS] = {
    "Group",    "Coll",    "P2p",    "ProxyOp",      "ProxyStep", "ProxyCtrl", "KernelCh", "NetPlugin",
    "GroupApi", "CollApi", "P2pApi", "KernelLaunch", "CeColl",    "CeSync",    "CeBatch",  "KernelPhase",
};

static uint64_t starts(const struct rs_sim_counts *c)
{
    uint64_t n = 0;
    for (int i = 0; i < RS_NCCL_TYPE_BITS; i++) n += atomic_load(&c->start[i]);
    return n;
}

uint64_t rs_sim_callbacks(const struct rs_sim_counts *c)
{
    return atomic_load(&c->init) + atomic_load(&c->finalize) + atomic_load(&c->stop) + atomic_load(&c->record) +
           starts(c);
}

static void write_job(struct rs_json *j, const struct rs_sim_job *job, const struct rs_sim_result *res)
{
    const struct rs_sim_config *cfg = &job->plan->cfg;
    rs_json_object(j);
    rs_json_key_str(j, "kind", "job");
    rs_json_key_str(j, "workload", rs_sim_workload_names[cfg->workload]);
    rs_json_key_i64(j, "ranks", cfg->ranks);
    rs_json_key_i64(j, "hosts", cfg->hosts);
    rs_json_key_i64(j, "processes", job->plan->nprocs);
    rs_json_key_i64(j, "steps", cfg->steps);
    rs_json_key_i64(j, "channels", cfg->channels);
    rs_json_key_i64(j, "api", cfg->api);
    rs_json_key_i64(j, "plugin_version", res->plugin_version);
    rs_json_key_u64(j, "seed", cfg->seed);
    rs_json_key_u64(j, "wall_ns", job->shared->wall0); /* at the start: a GPU's clock read this + its offset then */
    rs_json_key_u64(j, "callbacks", res->callbacks);
    rs_json_key_str(j, "ended", res->hung ? "hung" : res->killed ? "killed" : res->aborted ? "aborted" : "complete");
    rs_json_end(j);
    rs_json_newline(j);
}

static void write_process(struct rs_json *j, const struct rs_sim_job *job, int p, const struct rs_sim_child *child)
{
    const struct rs_sim_config *cfg = &job->plan->cfg;
    const struct rs_sim_counts *c = &job->shared->procs[p].counts;
    int first = p * cfg->ranks_per_process;
    int host = job->plan->ranks[first].host;
    char name[16];
    rs_sim_host_name(host, name);
    rs_json_object(j);
    rs_json_key_str(j, "kind", "process");
    rs_json_key_i64(j, "process", p);
    rs_json_key_i64(j, "pid", child->pid);
    rs_json_key_str(j, "host", name);
    rs_json_key_i64(j, "clock_offset_ns", job->plan->host_offset_ns[host]);
    rs_json_key_i64(j, "clock_ppm", job->plan->host_ppm[host]);
    rs_json_key(j, "ranks");
    rs_json_array(j);
    for (int r = first; r < first + cfg->ranks_per_process; r++) rs_json_i64(j, r);
    rs_json_end(j);
    rs_json_key_i64(j, "exit", WIFEXITED(child->status) ? WEXITSTATUS(child->status) : -1);
    rs_json_key_i64(j, "signal", WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0);
    rs_json_key_u64(j, "init", atomic_load(&c->init));
    rs_json_key_u64(j, "finalize", atomic_load(&c->finalize));
    rs_json_key_u64(j, "start", starts(c));
    rs_json_key_u64(j, "stop", atomic_load(&c->stop));
    rs_json_key_u64(j, "record", atomic_load(&c->record));
    rs_json_key_u64(j, "callbacks", rs_sim_callbacks(c));
    rs_json_key(j, "starts");
    rs_json_object(j);
    for (int i = 0; i < RS_NCCL_TYPE_BITS; i++) {
        uint64_t n = atomic_load(&c->start[i]);
        if (n > 0) rs_json_key_u64(j, type_names[i], n);
    }
    rs_json_end(j);
    rs_json_key_u64(j, "cuda_misuse", atomic_load(&c->cuda_misuse));
    rs_json_end(j);
    rs_json_newline(j);
}

static void write_gpu(struct rs_json *j, const struct rs_sim_job *job, int rank)
{
    const struct rs_sim_rank_def *d = &job->plan->ranks[rank];
    unsigned char uuid[16];
    char text[33], bus_id[16];
    rs_sim_gpu_uuid(job->plan, rank, uuid);
    for (int i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", uuid[i]);
    rs_sim_gpu_bus_id(job->plan, rank, bus_id, sizeof bus_id);
    rs_json_object(j);
    rs_json_key_str(j, "kind", "gpu");
    rs_json_key_i64(j, "rank", rank);
    rs_json_key_i64(j, "device", d->device);
    rs_json_key_str(j, "bus_id", bus_id);
    rs_json_key_str(j, "uuid", text);
    rs_json_key_i64(j, "offset_ns", d->gpu_offset_ns);
    rs_json_key_double(j, "ppm", d->gpu_ppm);
    rs_json_key_u64(j, "grain_ns", d->gpu_grain_ns);
    rs_json_end(j);
    rs_json_newline(j);
}

static void write_comm(struct rs_json *j, const struct rs_sim_plan *plan, int index)
{
    const struct rs_sim_comm_def *c = &plan->comms[index];
    rs_json_object(j);
    rs_json_key_str(j, "kind", "comm");
    rs_json_key_hex(j, "comm", c->hash);
    rs_json_key_str(j, "name", c->name[0] ? c->name : NULL);
    rs_json_key_i64(j, "nranks", c->nranks);
    rs_json_key_i64(j, "nnodes", c->nnodes);
    rs_json_key(j, "ranks");
    rs_json_array(j);
    for (int i = 0; i < c->nranks; i++) rs_json_i64(j, c->ranks[i]);
    rs_json_end(j);
    rs_json_key(j, "parent");
    if (c->parent >= 0) {
        rs_json_object(j);
        rs_json_key_hex(j, "comm", plan->comms[c->parent].hash);
        rs_json_key_i64(j, "count", c->child_count);
        rs_json_key_i64(j, "color", c->color);
        rs_json_key_bool(j, "share", c->share);
        rs_json_end(j);
    } else {
        rs_json_null(j);
    }
    rs_json_end(j);
    rs_json_newline(j);
}

enum rs_status rs_sim_truth_write(const char *path, const struct rs_sim_job *job, const struct rs_sim_child *children,
                                  const struct rs_sim_result *res, struct rs_err *err)
{
    struct rs_out out = {0};
    RS_TRY(rs_out_open(&out, path, true, err));
    struct rs_json *j = malloc(sizeof *j);
    if (!j) {
        rs_out_abort(&out);
        return rs_fail(err, RS_NO_MEMORY, "%s: no memory to write it", path);
    }
    rs_json_to_file(j, out.file, path);
    write_job(j, job, res);
    for (int p = 0; p < job->plan->nprocs; p++) write_process(j, job, p, &children[p]);
    for (int r = 0; r < job->plan->cfg.ranks; r++) write_gpu(j, job, r);
    for (int c = 0; c < job->plan->ncomms; c++) write_comm(j, job->plan, c);
    enum rs_status status = rs_json_finish(j, err);
    free(j);
    if (status != RS_OK) {
        rs_out_abort(&out);
        return status;
    }
    return rs_out_commit(&out, err);
}
