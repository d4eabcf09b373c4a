#include "export/sqlite/schema.h"

static const struct rs_sql_column meta[] = {
    {"key", "TEXT PRIMARY KEY",
     "ringscope, schema, title, filters, rows, t0_ns, from_ns, to_ns, operations, compared, ties, compare_error_ns, "
     "clocks_at_ns, aligned, world_size, units"},
    {"value", "",
     "t0_ns: the run's first event, where times of commands count from; operations, compared, ties, compare_error_ns: "
     "as `ringscope report` counts them; filters, rows: what was asked for"},
};

static const struct rs_sql_column notes[] = {
    {"text", "TEXT NOT NULL", "what could not be used, or should be known"},
};

static const struct rs_sql_column processes[] = {
    {"id", "INTEGER PRIMARY KEY", ""},
    {"host", "TEXT", "null: the tool does not tell it"},
    {"pid", "INTEGER", ""},
    {"tool", "TEXT NOT NULL", "whose file it is: ringscope, kineto, nsys-sqlite..."},
    {"path", "TEXT", "of its recording or trace"},
    {"launcher_rank", "INTEGER", "as SLURM, torchrun or mpirun say"},
    {"nccl_version", "TEXT", ""},
    {"from_ns", "INTEGER", "the recording began"},
    {"to_ns", "INTEGER", "last sign of life"},
    {"state", "TEXT", "closed, idle, running, killed; null: not of a recording"},
    {"complete", "INTEGER NOT NULL", "1: nothing was lost, overwritten or damaged"},
    {"callbacks", "INTEGER", "kept"},
    {"lost", "INTEGER", "callbacks that found no room"},
    {"overwritten", "INTEGER", "callbacks that a ring wrote over"},
    {"damaged", "INTEGER", "callbacks that cannot be read"},
    {"clock_error_ns", "INTEGER", "of its times on its host's clock"},
    {"same_as", "INTEGER REFERENCES processes", "the same process as another tool saw it, which leads; null: leads"},
};

static const struct rs_sql_column ranks[] = {
    {"id", "INTEGER PRIMARY KEY", "a GPU of a process"},
    {"rank", "INTEGER", "of the job; null: not known"},
    {"process_id", "INTEGER NOT NULL REFERENCES processes", ""},
    {"host", "TEXT", ""},
    {"pid", "INTEGER", ""},
    {"device", "INTEGER", "CUDA device number in its process"},
    {"uuid", "TEXT", "of the GPU"},
    {"bus_id", "TEXT", ""},
};

static const struct rs_sql_column communicators[] = {
    {"id", "INTEGER PRIMARY KEY", ""},
    {"comm", "TEXT", "its hash, 0x and 16 digits"},
    {"name", "TEXT", ""},
    {"nranks", "INTEGER", ""},
    {"nnodes", "INTEGER", ""},
    {"parent_id", "INTEGER REFERENCES communicators", "that it was split from"},
    {"parent_count", "INTEGER", "of the parent's children before it"},
    {"parent_color", "INTEGER", ""},
    {"color_from_ranks", "INTEGER", "1: the colour is PyTorch's hash of the list of ranks"},
    {"created_ns", "INTEGER", "by its first rank"},
    {"created_source", "TEXT", "what that is known by"},
    {"destroyed_ns", "INTEGER", "by its last rank"},
    {"destroyed_source", "TEXT", ""},
    {"class", "TEXT", "communicators of equal shape: '8 consecutive ranks (tp), 64 times'"},
    {"incarnation", "INTEGER NOT NULL", "of the same hash: 0 the first"},
    {"pg_name", "TEXT", "PyTorch's name of the process group"},
    {"pg_desc", "TEXT", "and its description"},
    {"seen_by", "TEXT", "JSON list of the tools that saw it; the first leads"},
    {"comm_source", "TEXT", "nccl: NCCL's hash; process_group: made of the group's name and ranks"},
    {"recorded", "INTEGER NOT NULL", "ranks of it that are here"},
};

static const struct rs_sql_column members[] = {
    {"id", "INTEGER PRIMARY KEY", "one rank of one communicator"},
    {"communicator_id", "INTEGER NOT NULL REFERENCES communicators", ""},
    {"rank", "INTEGER", "in the communicator"},
    {"rank_id", "INTEGER REFERENCES ranks", "who that is"},
    {"global_rank", "INTEGER", "of the job"},
    {"process_id", "INTEGER NOT NULL REFERENCES processes", ""},
    {"device", "INTEGER", ""},
    {"created_ns", "INTEGER", ""},
    {"destroyed_ns", "INTEGER", ""},
};

static const struct rs_sql_column operations[] = {
    {"id", "INTEGER PRIMARY KEY", "by time"},
    {"op", "TEXT NOT NULL", "its id: the same in every run of ringscope over the same job"},
    {"communicator_id", "INTEGER NOT NULL REFERENCES communicators", ""},
    {"func", "TEXT", "AllReduce..., SendRecv for a pair"},
    {"kind", "TEXT NOT NULL", "coll, pair, fanout (pairs of one group call: they have rows too), ce, api"},
    {"seq", "INTEGER", "NCCL's number, by communicator and function"},
    {"replay", "INTEGER", "of one in a CUDA graph: how many came before"},
    {"root", "INTEGER", "rank in the communicator"},
    {"count", "INTEGER", "elements"},
    {"bytes", "INTEGER", "nccl-tests' S: the buffer of one rank; all-gather, reduce-scatter: times nranks"},
    {"dtype", "TEXT", ""},
    {"algo", "TEXT", ""},
    {"proto", "TEXT", ""},
    {"nranks", "INTEGER", "of the communicator"},
    {"src", "INTEGER", "of a pair: rank in the communicator"},
    {"dst", "INTEGER", "likewise"},
    {"pair_index", "INTEGER", "of a pair: how many came before from src to dst"},
    {"fanout_id", "INTEGER REFERENCES operations", "of a pair: the fan-out that it belongs to"},
    {"comms_id", "TEXT", "PyTorch's"},
    {"pg_seq", "INTEGER", "the framework's number of it in its group"},
    {"step", "INTEGER", "the framework's step that its call lies in"},
    {"scope", "TEXT", "the innermost annotation that its call lies in"},
    {"seen_by", "TEXT", "JSON list of the tools that saw it; the first leads"},
    {"confidence", "REAL NOT NULL", "of the join, 0 to 1"},
    {"start_ns", "INTEGER", "the first rank started"},
    {"last_start_ns", "INTEGER", "the last rank started"},
    {"end_ns", "INTEGER", "the last rank ended; null: not all are known"},
    {"transfer_ns", "INTEGER", "from the last start to the last end"},
    {"algbw_gbs", "REAL", "bytes / transfer_ns, 10^9 bytes a second"},
    {"busbw_gbs", "REAL", "as nccl-tests have it"},
    {"wait_source", "TEXT", "what waits are told by: clocks, durations"},
    {"last_rank", "INTEGER", "rank in the communicator that came last; see tie"},
    {"last_rank_id", "INTEGER REFERENCES ranks", "the same one"},
    {"tie", "INTEGER NOT NULL", "1: its lead is below twice the clock error, nobody was last"},
    {"complete", "INTEGER NOT NULL", "1: all ranks are here, and ended"},
    {"error_ns", "INTEGER", "of comparing its ranks' times"},
    {"mismatch", "INTEGER NOT NULL", "1: count, type or root differ between ranks"},
    {"violation", "INTEGER NOT NULL", "1: a rank ended before another began"},
    {"unreported", "INTEGER NOT NULL", "1: told at capture, its replays are not reported"},
    {"double", "INTEGER NOT NULL", "1: a rank is in it twice"},
    {"unknown", "TEXT", "what NCCL does not tell of it"},
    {"compared", "INTEGER NOT NULL", "1: the starts of its ranks can be compared"},
    {"longest_wait_ns", "INTEGER", "of its ranks"},
    {"mean_wait_ns", "INTEGER", "likewise"},
    {"missing", "TEXT", "JSON list of ranks that did not come"},
    {"not_recorded", "TEXT", "JSON list of ranks of which it is not known"},
};

static const struct rs_sql_column operation_ranks[] = {
    {"operation_id", "INTEGER REFERENCES operations", ""},
    {"rank", "INTEGER", "in the communicator"},
    {"rank_id", "INTEGER REFERENCES ranks", "who that is"},
    {"global_rank", "INTEGER", "of the job"},
    {"member_id", "INTEGER REFERENCES members", ""},
    {"process_id", "INTEGER REFERENCES processes", ""},
    {"launch", "TEXT", "operations of a process with the same were launched together"},
    {"enqueued_ns", "INTEGER", "the call"},
    {"launched_ns", "INTEGER", "the kernel launch"},
    {"start_ns", "INTEGER", "the kernel, else its network work, began"},
    {"start_source", "TEXT", "kernel, callback, proxy"},
    {"end_ns", "INTEGER", "null: only bounded"},
    {"end_source", "TEXT", "likewise"},
    {"end_after_ns", "INTEGER", "where end_ns is null: it ended after this"},
    {"end_before_ns", "INTEGER", "and before this"},
    {"duration_ns", "INTEGER", ""},
    {"wait_ns", "INTEGER", "for the last rank; below twice operations.error_ns it says nothing; null: not known"},
    {"clock_error_ns", "INTEGER", ""},
    {"channels", "INTEGER", "of its kernel, that were seen to end"},
    {"parts", "INTEGER", "of a fan-out: sends and receives"},
    {"helper_pid", "INTEGER", "of the process that did network work for it (PXN)"},
    {"end_early", "INTEGER", "1: NCCL tells the end too early here"},
    {"stale_timer", "INTEGER", "1: GPU times of it were another operation's, and are not used"},
    {"times_from", "TEXT", "the tool that the times came from, where it does not lead"},
    {"open", "INTEGER", "1: had not ended when its recording did"},
    {"mismatch", "INTEGER", "1: its count, type or root differ"},
    {"count", "INTEGER", "as this rank has it"},
    {"dtype", "TEXT", "likewise"},
};

static const struct rs_sql_column stragglers[] = {
    {"scope", "TEXT NOT NULL", "rank or host"},
    {"rank_id", "INTEGER REFERENCES ranks", "null: a host"},
    {"host", "TEXT", ""},
    {"times_last", "INTEGER NOT NULL", "operations that it was the last of"},
    {"operations", "INTEGER NOT NULL", "that could be compared"},
    {"last_share", "REAL", "times_last / operations"},
    {"cost_ns", "INTEGER NOT NULL", "its own lateness: what fixing it alone would save, at most"},
    {"cost_once_ns", "INTEGER", "of that the largest of each step only"},
    {"inherited_ns", "INTEGER NOT NULL", "late because it was held by an earlier operation"},
    {"repeated_ns", "INTEGER NOT NULL", "charged before"},
    {"unclear_ns", "INTEGER NOT NULL", "records in between are missing"},
    {"passed_on_ns", "INTEGER NOT NULL", "lateness of others that began here"},
    {"gpu_time_lost_ns", "INTEGER NOT NULL", "by all the others together"},
    {"why", "TEXT", "the largest part of its cost"},
    {"launched_late_ns", "INTEGER NOT NULL", "of the cost: launched late"},
    {"queued_ns", "INTEGER NOT NULL", "launched in time, started late"},
    {"held_ns", "INTEGER NOT NULL", "held by an earlier operation"},
    {"unknown_ns", "INTEGER NOT NULL", ""},
    {"matters", "INTEGER NOT NULL", "1: above 0.1 % of the run and ten times the clock error"},
};

static const struct rs_sql_column lanes[] = {
    {"id", "INTEGER PRIMARY KEY", "a row of the timeline: what lies on it does not overlap"},
    {"process_id", "INTEGER NOT NULL REFERENCES processes", ""},
    {"rank_id", "INTEGER REFERENCES ranks", "null: of the process as such"},
    {"communicator_id", "INTEGER REFERENCES communicators", ""},
    {"row", "TEXT NOT NULL", "operations, calls, launches, channels, proxy, steps, network, compute, host..."},
    {"label", "TEXT", "channel 3; thread 4711 python"},
    {"sub", "INTEGER NOT NULL", "among the lanes of its row; what would overlap is on a further one of the same label"},
    {"first_id", "INTEGER NOT NULL", "of its first event (of row steps: of network_steps)"},
    {"n", "INTEGER NOT NULL", "how many"},
};

static const struct rs_sql_column events[] = {
    {"id", "INTEGER PRIMARY KEY", "of events and network_steps together; on a lane rising by start"},
    {"process_id", "INTEGER REFERENCES processes", ""},
    {"rank_id", "INTEGER REFERENCES ranks", ""},
    {"communicator_id", "INTEGER REFERENCES communicators", ""},
    {"lane_id", "INTEGER REFERENCES lanes", ""},
    {"kind", "TEXT", "a function (the operation on its rank), CollApi, KernelCh, ProxyOp send, compute..."},
    {"name_id", "INTEGER REFERENCES strings", "of a kernel, annotation or call"},
    {"operation_id", "INTEGER REFERENCES operations", "that it is, or hangs on"},
    {"parent_id", "INTEGER REFERENCES events", "the event that caused it or contains it"},
    {"start_ns", "INTEGER", "null: not told, see near_ns"},
    {"end_ns", "INTEGER", "null: not known, see end_after_ns and end_before_ns"},
    {"near_ns", "INTEGER", "where start_ns is null: its launch, its call or its end"},
    {"end_after_ns", "INTEGER", "where end_ns is null: it ended after this"},
    {"end_before_ns", "INTEGER", "and before this; null: no bound is known"},
    {"open", "INTEGER", "1: had not ended when its recording did"},
    {"wait_ns", "INTEGER", "of an operation: it waited for the last rank; null: not, or below the clock error"},
    {"channel", "INTEGER", ""},
    {"peer", "INTEGER", "rank in the communicator"},
    {"bytes", "INTEGER", ""},
    {"count", "INTEGER", "elements"},
    {"told_ns", "INTEGER", "of a kernel's channel: when the host heard of its start"},
    {"told_end_ns", "INTEGER", "and of its end"},
    {"args", "TEXT", "JSON object of what else is known: args ->> 'steps'"},
};

static const struct rs_sql_column network_steps[] = {
    {"id", "INTEGER PRIMARY KEY", "of events and network_steps together"},
    {"process_id", "INTEGER REFERENCES processes", "that did it (under PXN: for another)"},
    {"rank_id", "INTEGER REFERENCES ranks", ""},
    {"communicator_id", "INTEGER REFERENCES communicators", ""},
    {"lane_id", "INTEGER REFERENCES lanes", ""},
    {"operation_id", "INTEGER REFERENCES operations", ""},
    {"parent_id", "INTEGER REFERENCES events", "its ProxyOp"},
    {"is_send", "INTEGER", "1: sends, 0: receives"},
    {"channel", "INTEGER", ""},
    {"peer", "INTEGER", "rank in the communicator"},
    {"step", "INTEGER", ""},
    {"steps", "INTEGER", "of its ProxyOp"},
    {"bytes", "INTEGER", ""},
    {"start_ns", "INTEGER", ""},
    {"end_ns", "INTEGER", "null: not known"},
    {"end_after_ns", "INTEGER", "where end_ns is null: it ended after this"},
    {"gpu_ns", "INTEGER", "a send: waited for its own GPU"},
    {"credit_ns", "INTEGER", "a send: waited for the peer's credit"},
    {"net_ns", "INTEGER", "a send: was on the network"},
    {"recv_ns", "INTEGER", "a receive: waited for sender and network"},
    {"flush_ns", "INTEGER", "a receive: flushed"},
    {"consume_ns", "INTEGER", "a receive: waited for its own GPU"},
};

static const struct rs_sql_column launches[] = {
    {"launch_id", "INTEGER REFERENCES events", "the launch"},
    {"event_id", "INTEGER REFERENCES events", "what it launched"},
};

static const struct rs_sql_column clocks[] = {
    {"process_id", "INTEGER NOT NULL REFERENCES processes", ""},
    {"host", "TEXT", ""},
    {"pid", "INTEGER", ""},
    {"device", "INTEGER", ""},
    {"ranks", "TEXT", "JSON list of ranks of the job"},
    {"offset_ns", "INTEGER", "added to the host's clock in the middle of the run (meta: clocks_at_ns)"},
    {"drift_ppm", "REAL", ""},
    {"error_ns", "INTEGER", "null: cannot be compared with the others"},
    {"gpu_offset_ns", "INTEGER", "added to the GPU's timer"},
    {"gpu_error_ns", "INTEGER", ""},
    {"method", "TEXT NOT NULL", "reference, ends, pairs, bounds, wall, overlay, none"},
    {"uuid", "TEXT", "of the GPU"},
    {"gpu_drift_ppm", "REAL", ""},
    {"read_late_p50_ns", "INTEGER", "how late the GPU's timers were read"},
    {"read_late_p99_ns", "INTEGER", ""},
    {"ring_overruns", "INTEGER NOT NULL", "timers read after the GPU had used their slot again"},
    {"stale_timers", "INTEGER NOT NULL", "timers of other operations, not used"},
    {"timers", "INTEGER NOT NULL", "read in all"},
    {"host_method", "TEXT NOT NULL", "as method, of the host's clock"},
    {"hull_low_ns", "INTEGER", "how far it could be moved before an effect came before its cause"},
    {"hull_high_ns", "INTEGER", ""},
    {"island", "INTEGER NOT NULL", "clocks of one number can be compared; 0 the main one"},
    {"fitted", "INTEGER NOT NULL", "ends that were fitted"},
    {"spread_ns", "INTEGER", "of those"},
    {"pieces", "INTEGER NOT NULL", "of its line"},
};

static const struct rs_sql_column statistics[] = {
    {"process_id", "INTEGER NOT NULL REFERENCES processes", "inputs without times: sums of tools"},
    {"communicator_id", "INTEGER REFERENCES communicators", ""},
    {"kind", "TEXT NOT NULL", "kernel, comm, copy, call, range, range_work, operation"},
    {"func", "TEXT", "NCCL's name of the function"},
    {"name", "TEXT", ""},
    {"within", "TEXT", "the annotation around it; of a range its domain"},
    {"thread", "TEXT", ""},
    {"calls", "INTEGER NOT NULL", ""},
    {"bytes", "INTEGER", ""},
    {"total_ns", "INTEGER", ""},
    {"min_ns", "INTEGER", ""},
    {"max_ns", "INTEGER", ""},
};

static const struct rs_sql_column strings[] = {
    {"id", "INTEGER PRIMARY KEY", ""},
    {"text", "TEXT NOT NULL", "names of kernels, annotations and calls"},
};

#define TABLE(name, comment, indexes)                                                                                  \
    {                                                                                                                  \
#name, comment, name, sizeof name / sizeof *name, indexes                                                      \
    }

const struct rs_sql_table_row rs_sql_tables[RS_SQL_TABLES] = {
    [RS_SQL_META] = TABLE(meta, "facts of the whole. Times everywhere are ns of wall time on one axis", NULL),
    [RS_SQL_NOTES] = TABLE(notes, "what should be known of the inputs", NULL),
    [RS_SQL_PROCESSES] = TABLE(processes, "processes, a row for each tool that saw one", NULL),
    [RS_SQL_RANKS] = TABLE(ranks, "ranks of the job", NULL),
    [RS_SQL_COMMUNICATORS] = TABLE(communicators, "communicators of NCCL", NULL),
    [RS_SQL_MEMBERS] =
        TABLE(members, "ranks of communicators", "CREATE INDEX members_by_rank ON members (communicator_id, rank);"),
    [RS_SQL_OPERATIONS] = TABLE(operations, "collectives, sends with their receives, fan-outs: joined across ranks",
                                "CREATE INDEX operations_by_op ON operations (op);"
                                "CREATE INDEX operations_by_communicator ON operations (communicator_id, func);"
                                "CREATE INDEX operations_by_start ON operations (start_ns);"),
    [RS_SQL_OPERATION_RANKS] =
        TABLE(operation_ranks, "what each rank did in an operation",
              "CREATE INDEX operation_ranks_by_operation ON operation_ranks (operation_id, rank);"
              "CREATE INDEX operation_ranks_by_rank ON operation_ranks (rank_id, start_ns);"),
    [RS_SQL_STRAGGLERS] = TABLE(stragglers, "who was late, what that cost and why: as in `ringscope report`", NULL),
    [RS_SQL_LANES] = TABLE(lanes, "rows of the timeline", NULL),
    [RS_SQL_EVENTS] = TABLE(events, "all that lies on the timeline, but for network steps",
                            "CREATE INDEX events_by_operation ON events (operation_id)"
                            " WHERE operation_id IS NOT NULL;"),
    [RS_SQL_NETWORK_STEPS] = TABLE(network_steps, "steps of network operations (ProxyStep), one a chunk of data",
                                   "CREATE INDEX network_steps_by_operation ON network_steps (operation_id)"
                                   " WHERE operation_id IS NOT NULL;"),
    [RS_SQL_LAUNCHES] = TABLE(launches, "what was launched by what",
                              "CREATE INDEX launches_by_event ON launches (event_id);"
                              "CREATE INDEX launches_by_launch ON launches (launch_id);"),
    [RS_SQL_CLOCKS] = TABLE(clocks, "the clocks of each process and device", NULL),
    [RS_SQL_STATISTICS] = TABLE(statistics, "sums without a time axis", NULL),
    [RS_SQL_STRINGS] = TABLE(strings, "names", NULL),
};

void rs_sql_create_table(struct rs_strbuf *to, enum rs_sql_table table)
{
    const struct rs_sql_table_row *t = &rs_sql_tables[table];
    rs_strbuf_printf(to, "CREATE TABLE %s ( -- %s\n", t->name, t->comment);
    for (size_t i = 0; i < t->ncolumns; i++) {
        const struct rs_sql_column *c = &t->columns[i];
        rs_strbuf_printf(to, "    %s%s%s%s", c->name, *c->type ? " " : "", c->type, i + 1 < t->ncolumns ? "," : "");
        if (*c->comment) rs_strbuf_printf(to, " -- %s", c->comment);
        rs_strbuf_putc(to, '\n');
    }
    rs_strbuf_puts(to, ")");
}

void rs_sql_create_view(struct rs_strbuf *to, size_t view)
{
    const struct rs_sql_view *v = &rs_sql_views[view];
    rs_strbuf_printf(to, "CREATE VIEW %s AS -- %s\n%s", v->name, v->comment, v->select);
}

void rs_sql_insert_into(struct rs_strbuf *to, enum rs_sql_table table, unsigned rows)
{
    rs_strbuf_printf(to, "INSERT INTO %s VALUES ", rs_sql_tables[table].name);
    for (unsigned r = 0; r < rows; r++) {
        rs_strbuf_puts(to, r ? ",(?" : "(?");
        for (size_t i = 1; i < rs_sql_tables[table].ncolumns; i++) rs_strbuf_puts(to, ",?");
        rs_strbuf_putc(to, ')');
    }
}
