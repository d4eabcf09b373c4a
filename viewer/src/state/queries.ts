// The query in SQL that the user types, and its answer: they stay while other panels are open.

import { signal } from "@preact/signals";
import { fetchRows, type Rows, type Table } from "../data/sql";

export const EXAMPLES: { text: string; sql: string }[] = [
    { text: "who delayed the others", sql: "SELECT * FROM v_stragglers" },
    {
        text: "what took most of the time",
        sql:
            "SELECT func, bytes, count(*) AS calls, sum(end_ns - start_ns) / 1e6 AS ms\n" +
            "FROM operations WHERE fanout_id IS NULL GROUP BY func, bytes ORDER BY ms DESC LIMIT 10",
    },
    {
        text: "slowest operations",
        sql:
            "SELECT at_s, op, func, bytes, duration_ns, wait_ns, last_global_rank\n" +
            "FROM v_operations ORDER BY duration_ns DESC LIMIT 20",
    },
    {
        text: "slow links",
        sql:
            "SELECT rank, peer, host, peer_host, bytes * 1.0 / net_ns AS gbs\n" +
            "FROM v_network WHERE bytes > 0 ORDER BY gbs LIMIT 10",
    },
];

export class Queries {
    readonly text = signal(EXAMPLES[0]!.sql);
    readonly rows = signal<Rows | null>(null);
    readonly error = signal("");
    readonly running = signal(false);

    constructor(
        readonly tables: Table[],
        private readonly url: string,
    ) {}

    async run(): Promise<void> {
        if (this.running.value) return;
        this.running.value = true;
        this.error.value = "";
        this.rows.value = null;
        try {
            this.rows.value = await fetchRows(this.url, this.text.value);
        } catch (error) {
            this.error.value = error instanceof Error ? error.message : String(error);
        }
        this.running.value = false;
    }
}
