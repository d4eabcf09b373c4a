#include "gen/truth_json.h"

#include <math.h>
#include <stdio.h>

enum { SAMPLES = 9 };

void rs_gen_truth_time(struct rs_json *j, int64_t t)
{
    if (t == RS_GEN_NEVER)
        rs_json_null(j);
    else
        rs_json_i64(j, RS_GEN_EPOCH_NS + t);
}

static void put_amounts(struct rs_json *j, const char *key, const struct rs_gen_amount *a, int n)
{
    rs_json_key(j, key);
    rs_json_array(j);
    for (int i = 0; i < n; i++) {
        rs_json_array(j);
        rs_json_i64(j, a[i].who);
        rs_json_double(j, a[i].value);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void put_moments(struct rs_json *j, const char *key, const struct rs_gen_moment *a, int n)
{
    rs_json_key(j, key);
    rs_json_array(j);
    for (int i = 0; i < n; i++) {
        rs_json_array(j);
        rs_json_i64(j, a[i].rank);
        rs_json_i64(j, a[i].step);
        rs_json_end(j);
    }
    rs_json_end(j);
}

void rs_gen_truth_options(struct rs_json *j, const struct rs_gen_config *c)
{
    rs_json_key(j, "options");
    rs_json_object(j);
    rs_json_key_str(j, "workload", rs_gen_workload_names[c->workload]);
    rs_json_key_i64(j, "ranks", c->ranks);
    rs_json_key_i64(j, "hosts", c->hosts);
    rs_json_key_i64(j, "devices_per_process", c->devices_per_process);
    rs_json_key_i64(j, "channels", c->channels);
    rs_json_key_i64(j, "net_steps", c->net_steps);
    rs_json_key_i64(j, "api", c->api);
    rs_json_key_str(j, "events", c->net ? "net" : "ops");
    rs_json_key_i64(j, "bytes", c->bytes);
    rs_json_key_double(j, "compute_us", c->compute_us);
    rs_json_key_u64(j, "seed", c->seed);
    rs_json_key_double(j, "clock_offset_ms", c->clock_offset_ms);
    rs_json_key_double(j, "drift_ppm", c->drift_ppm);
    rs_json_key_double(j, "wander_ppm", c->wander_ppm);
    rs_json_key_double(j, "jitter_us", c->jitter_us);
    rs_json_key_double(j, "bias_us", c->bias_us);
    rs_json_key_double(j, "tails", c->tails);
    rs_json_key_bool(j, "world", !c->no_world);
    rs_json_key_bool(j, "replays_unreported", c->replays_unreported);
    put_amounts(j, "slow", c->slow, c->nslow);
    put_amounts(j, "slow_host", c->slow_host, c->nslow_host);
    put_amounts(j, "slow_cpu", c->slow_cpu, c->nslow_cpu);
    put_amounts(j, "ring", c->ring, c->nring);
    rs_json_key(j, "slow_link");
    rs_json_array(j);
    for (int i = 0; i < c->nslow_link; i++) {
        rs_json_array(j);
        rs_json_i64(j, c->slow_link[i].a);
        rs_json_i64(j, c->slow_link[i].b);
        rs_json_double(j, c->slow_link[i].factor);
        rs_json_end(j);
    }
    rs_json_end(j);
    put_moments(j, "mismatch", c->mismatch, c->nmismatch);
    put_moments(j, "late", c->late, c->nlate);
    rs_json_key(j, "no_recording");
    rs_json_array(j);
    for (int i = 0; i < c->nno_recording; i++) rs_json_i64(j, c->no_recording[i]);
    rs_json_end(j);
    rs_json_key_double(j, "drop", c->drop);
    rs_json_key_str(j, "hang", rs_gen_hang_names[c->hang]);
    rs_json_end(j);
}

void rs_gen_truth_comms(struct rs_json *j, const struct rs_gen_job *job)
{
    rs_json_key(j, "communicators");
    rs_json_array(j);
    for (int i = 0; i < job->ncomms; i++) {
        const struct rs_gen_comm *c = &job->comms[i];
        rs_json_object(j);
        rs_json_key_hex(j, "comm", c->hash);
        rs_json_key_str(j, "name", c->name);
        rs_json_key_i64(j, "nranks", c->n);
        rs_json_key_i64(j, "nnodes", c->nnodes);
        rs_json_key(j, "parent");
        if (c->parent < 0) {
            rs_json_null(j);
        } else {
            rs_json_object(j);
            rs_json_key_hex(j, "comm", job->comms[c->parent].hash);
            rs_json_key_i64(j, "count", c->child_count);
            rs_json_key_i64(j, "color", c->color);
            rs_json_end(j);
        }
        rs_json_key(j, "members");
        rs_json_array(j);
        for (int m = 0; m < c->n; m++) {
            const struct rs_gen_rank *r = &job->ranks[c->ranks[m]];
            rs_json_array(j);
            rs_json_i64(j, m);
            rs_json_str(j, job->hosts[r->host].name);
            rs_json_u64(j, job->procs[r->process].pid);
            rs_json_i64(j, r->gpu.device);
            rs_json_i64(j, c->ranks[m]);
            rs_json_end(j);
        }
        rs_json_end(j);
        rs_json_end(j);
    }
    rs_json_end(j);
}

void rs_gen_truth_hosts(struct rs_json *j, struct rs_gen_job *job, int64_t end)
{
    rs_json_key(j, "hosts");
    rs_json_array(j);
    for (int h = 0; h < job->cfg->hosts; h++) {
        struct rs_gen_host *host = &job->hosts[h];
        rs_json_object(j);
        rs_json_key_str(j, "host", host->name);
        rs_json_key_str(j, "boot_id", host->boot_id);
        rs_json_key_i64(j, "offset_ns", host->offset);
        rs_json_key_double(j, "drift_ppm", rs_gen_clock_segment(&host->clock, 0).rate * 1e6);
        rs_json_key_double(j, "cost_ns", round(job->host_cost[h]));
        rs_json_key(j, "samples"); /* true ns, host's wall minus true */
        rs_json_array(j);
        for (int i = 0; i < SAMPLES; i++) {
            int64_t t = end / (SAMPLES - 1) * i;
            rs_json_array(j);
            rs_gen_truth_time(j, t);
            rs_json_i64(j, rs_gen_host_wall(host, t) - RS_GEN_EPOCH_NS - t);
            rs_json_end(j);
        }
        rs_json_end(j);
        rs_json_end(j);
    }
    rs_json_end(j);
}

void rs_gen_truth_gpus(struct rs_json *j, struct rs_gen_job *job, int64_t end)
{
    rs_json_key(j, "gpus");
    rs_json_array(j);
    for (int r = 0; r < job->cfg->ranks; r++) {
        struct rs_gen_rank *k = &job->ranks[r];
        struct rs_gen_host *host = &job->hosts[k->host];
        char uuid[33];
        for (int i = 0; i < 16; i++) snprintf(uuid + 2 * i, 3, "%02x", k->gpu.uuid[i]);
        rs_json_object(j);
        rs_json_key_i64(j, "rank", r);
        rs_json_key_str(j, "host", host->name);
        rs_json_key_u64(j, "pid", job->procs[k->process].pid);
        rs_json_key_i64(j, "device", k->gpu.device);
        rs_json_key_str(j, "uuid", uuid);
        rs_json_key_bool(j, "recorded", job->procs[k->process].recorded);
        rs_json_key_double(j, "drift_ppm", rs_gen_clock_segment(&k->gpu.clock, 0).rate * 1e6);
        rs_json_key_double(j, "end_bias_ns", k->bias);
        rs_json_key_double(j, "cost_ns", round(k->cost));
        rs_json_key(j, "samples"); /* true ns, the GPU's timer, the host's wall */
        rs_json_array(j);
        for (int i = 0; i < SAMPLES; i++) {
            int64_t t = end / (SAMPLES - 1) * i;
            rs_json_array(j);
            rs_gen_truth_time(j, t);
            rs_json_i64(j, rs_gen_gpu_time(&k->gpu, t));
            rs_json_i64(j, rs_gen_host_wall(host, t));
            rs_json_end(j);
        }
        rs_json_end(j);
        rs_json_end(j);
    }
    rs_json_end(j);
}

void rs_gen_truth_straggler(struct rs_json *j, const struct rs_gen_job *job)
{
    const struct rs_gen_config *c = job->cfg;
    int worst = 0, host = 0;
    for (int r = 1; r < c->ranks; r++)
        if (job->ranks[r].cost > job->ranks[worst].cost) worst = r;
    for (int h = 1; h < c->hosts; h++)
        if (job->host_cost[h] > job->host_cost[host]) host = h;
    rs_json_key(j, "straggler");
    rs_json_object(j);
    rs_json_key_i64(j, "rank", worst);
    rs_json_key_double(j, "rank_cost_ns", round(job->ranks[worst].cost));
    rs_json_key_str(j, "host", job->hosts[host].name);
    rs_json_key_double(j, "host_cost_ns", round(job->host_cost[host]));
    rs_json_end(j);
}
