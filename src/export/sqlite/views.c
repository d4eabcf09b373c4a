/* The views of export/sqlite/schema.h. */
#include "export/sqlite/schema.h"

const struct rs_sql_view rs_sql_views[] = {
    {"v_operations",
     "operations with names; at_s counts from the run's first event; wait_ns: the longest wait of its ranks",
     "SELECT o.id, o.op, (o.start_ns - (SELECT value FROM meta WHERE key = 't0_ns')) / 1e9 AS at_s, o.func, o.kind,\n"
     "    c.comm, c.name AS communicator, o.nranks, o.seq, o.src, o.dst, o.bytes, o.dtype,\n"
     "    o.end_ns - o.start_ns AS duration_ns,\n"
     "    CASE WHEN o.longest_wait_ns >= 2 * coalesce(o.error_ns, 0) THEN o.longest_wait_ns END AS wait_ns,\n"
     "    o.transfer_ns, o.algbw_gbs, o.busbw_gbs,\n"
     "    CASE WHEN NOT o.tie THEN r.rank END AS last_global_rank, o.complete, o.start_ns, o.end_ns\n"
     "FROM operations o JOIN communicators c ON c.id = o.communicator_id LEFT JOIN ranks r ON r.id = o.last_rank_id"},
    {"v_stragglers", "late ranks and hosts, by cost",
     "SELECT s.scope, r.rank, s.host, r.pid, r.device, r.uuid, s.times_last, s.operations, s.last_share, s.cost_ns,\n"
     "    s.cost_once_ns, s.inherited_ns, s.gpu_time_lost_ns, s.why, s.matters\n"
     "FROM stragglers s LEFT JOIN ranks r ON r.id = s.rank_id ORDER BY s.cost_ns DESC"},
    {"v_bandwidth", "by communicator, function and size, without the wait for the last rank",
     "SELECT c.comm, c.name AS communicator, o.func, o.bytes, o.nranks, count(*) AS calls,\n"
     "    avg(o.transfer_ns) AS transfer_ns, min(o.transfer_ns) AS min_ns, max(o.transfer_ns) AS max_ns,\n"
     "    total(CASE WHEN o.algbw_gbs IS NOT NULL THEN o.bytes END) / nullif(total(CASE WHEN o.algbw_gbs IS NOT NULL"
     " THEN o.transfer_ns END), 0) AS algbw_gbs,\n"
     "    sum(o.busbw_gbs * o.transfer_ns) / nullif(total(CASE WHEN o.busbw_gbs IS NOT NULL THEN o.transfer_ns END), 0)"
     " AS busbw_gbs,\n    o.kind\n"
     "FROM operations o JOIN communicators c ON c.id = o.communicator_id WHERE o.fanout_id IS NULL\n"
     "GROUP BY o.communicator_id, o.func, o.bytes, o.kind"},
    {"v_waits",
     "which rank waited for which, and how long: waits above twice the clock error, of operations with a last rank",
     "SELECT r.rank, r.host, r.device, o.func, l.rank AS last_global_rank, l.host AS last_host,\n"
     "    count(*) AS operations, CAST(total(p.wait_ns) AS INTEGER) AS wait_ns, avg(p.wait_ns) AS mean_ns,\n"
     "    max(p.wait_ns) AS max_ns\n"
     "FROM operation_ranks p JOIN operations o ON o.id = p.operation_id JOIN ranks r ON r.id = p.rank_id\n"
     "    LEFT JOIN ranks l ON l.id = o.last_rank_id\n"
     "WHERE NOT o.tie AND o.fanout_id IS NULL AND p.wait_ns > 0 AND p.wait_ns >= 2 * coalesce(o.error_ns, 0)\n"
     "    AND p.rank_id IS NOT o.last_rank_id\n"
     "GROUP BY p.rank_id, o.func, o.last_rank_id ORDER BY total(p.wait_ns) DESC"},
    {"v_network",
     "which rank sent how much to which, and what the steps waited for; ranks are of the job. Times are sums over "
     "steps",
     "SELECT r.rank, q.rank AS peer, r.host, q.host AS peer_host, sum(s.gpu_ns) AS gpu_ns, sum(s.credit_ns)"
     " AS credit_ns,\n"
     "    sum(s.net_ns) AS net_ns, sum(s.recv_ns) AS recv_ns, sum(s.flush_ns) AS flush_ns,\n"
     "    sum(s.consume_ns) AS consume_ns, sum(CASE WHEN s.is_send THEN s.bytes END) AS bytes,\n"
     "    sum(s.is_send) AS steps, sum(CASE WHEN NOT s.is_send THEN s.bytes END) AS received_bytes,\n"
     "    sum(NOT s.is_send) AS received_steps\n"
     "FROM network_steps s JOIN ranks r ON r.id = s.rank_id\n"
     "    LEFT JOIN members m ON m.communicator_id = s.communicator_id AND m.rank = s.peer\n"
     "    LEFT JOIN ranks q ON q.id = m.rank_id\n"
     "GROUP BY s.rank_id, m.rank_id ORDER BY sum(s.net_ns) DESC"},
    {"v_timeline", "events and network steps with names",
     "SELECT e.id, r.rank, l.process_id, e.communicator_id, l.row, l.label AS lane, e.kind,\n"
     "    coalesce(s.text, e.kind) AS name, e.operation_id, e.parent_id, coalesce(e.start_ns, e.near_ns) AS at_ns,\n"
     "    e.start_ns, e.end_ns, e.end_ns - e.start_ns AS duration_ns, e.channel, e.peer, e.bytes\n"
     "FROM events e JOIN lanes l ON l.id = e.lane_id LEFT JOIN ranks r ON r.id = e.rank_id\n"
     "    LEFT JOIN strings s ON s.id = e.name_id\n"
     "UNION ALL\n"
     "SELECT n.id, r.rank, l.process_id, n.communicator_id, l.row, l.label,\n"
     "    CASE WHEN n.is_send THEN 'ProxyStep send' ELSE 'ProxyStep recv' END, 'step ' || n.step, n.operation_id,\n"
     "    n.parent_id, n.start_ns, n.start_ns, n.end_ns, n.end_ns - n.start_ns, n.channel, n.peer, n.bytes\n"
     "FROM network_steps n JOIN lanes l ON l.id = n.lane_id LEFT JOIN ranks r ON r.id = n.rank_id"},
    {"v_activities", "what other tools recorded besides NCCL's operations: kernels, copies, annotations, host calls",
     "SELECT e.id, r.rank, r.host, r.device, l.row, l.label AS lane, e.kind, s.text AS name, e.start_ns, e.end_ns,\n"
     "    e.end_ns - e.start_ns AS duration_ns, e.bytes, e.operation_id\n"
     "FROM events e JOIN lanes l ON l.id = e.lane_id LEFT JOIN ranks r ON r.id = e.rank_id\n"
     "    LEFT JOIN strings s ON s.id = e.name_id\n"
     "WHERE l.row IN ('compute', 'comm', 'copies', 'annotations', 'host')"},
};
const size_t rs_sql_nviews = sizeof rs_sql_views / sizeof *rs_sql_views;
