// What the bundle says in JSON: all that is small. Most of it is the `--json` output of the commands of that name, so
// that the C program has one writer for both (docs/json.md has every field).

/** A kind of bar: of which row, in which colour, and what it means. Bars name it by its index, 255 at most. */
export interface Kind {
    id: string;
    /** What is written on the bar where it has no name of its own. */
    label: string;
    /** Index into `rows`. */
    row: number;
    /** A word that the palette knows, e.g. "AllReduce", "proxy", "compute", "lost". */
    colour: string;
    /** The sentence of `ringscope explain`. */
    explain?: string;
    /** Names of the states that the marks m1, m2, m3 of a bar begin. */
    marks?: string[];
    /** What the columns a1 .. a6 of its bars are. */
    arguments?: Argument[];
}

/** A kind of row: API calls, operations, GPU channels, proxy steps... */
export interface RowKind {
    id: string;
    label: string;
    /** Shown when the page opens. */
    on: boolean;
    /** Drawn on the one row of a group that is folded. */
    summary: boolean;
}

/** How a further column, of bars or operations, is shown. "time": ns from the begin of the run. */
export interface Argument {
    label: string;
    unit?: "ns" | "time" | "bytes" | "string" | "hex";
}

export interface CommMember {
    rank: number | null;
    global_rank: number | null;
    host: string | null;
    pid: number | null;
    device: number | null;
    uuid?: string | null;
}

export interface Comm {
    comm: string;
    name: string | null;
    nranks: number | null;
    nnodes: number | null;
    parent: { comm: string; count: number | null; color: number | null } | null;
    created_ns: number | null;
    destroyed_ns: number | null;
    members: CommMember[];
}

export interface Straggler {
    scope: string;
    rank: number | null;
    host: string | null;
    device: number | null;
    times_last: number;
    cost_ns: number;
    inherited_ns: number | null;
    gpu_time_lost_ns: number | null;
    why: string | null;
}

export interface NetworkRow {
    rank: number | null;
    peer: number | null;
    gpu_ns: number;
    credit_ns: number;
    net_ns: number;
    flush_ns: number;
    consume_ns: number;
    bytes: number;
    messages: number;
    received_bytes?: number;
    received_messages?: number;
}

export interface Report {
    /** What counts as an operation, and of those that were compared how many are ties: docs/json.md. */
    operations?: { count: number; ties: number };
    /** Largest error of comparing starts; 1 us: one clock, null: none was compared. */
    clock_error_ns?: number | null;
    stragglers?: Straggler[];
    network?: NetworkRow[];
    /** What is left out of the report: the start-up. null: nothing. */
    steps?: { left_out?: string | null };
    conclusion?: string[];
}

export interface Clock {
    host: string | null;
    pid: number | null;
    device: number | null;
    ranks?: number[];
    error_ns: number | null;
    gpu_error_ns?: number | null;
    method?: string;
}

/** One of two runs that are drawn above each other. */
export interface Run {
    title: string;
    /** Group of the run: the root of its rows. */
    group: number;
    /** Wall time of the page's t = 0 in this run. */
    begin_ns: string;
    /** Number and begin (ns) of its steps. */
    steps: [number, number][];
}

export interface Meta {
    title: string;
    /** Wall time of t = 0, in ns since 1970, as a string: it exceeds 2^53. */
    begin_ns: string;
    /** Where the operations lie: what the page opens on. */
    focus_ns?: [number, number];
    kinds: Kind[];
    rows: RowKind[];
    arguments?: Record<string, Argument>;
    comms: Comm[];
    clocks: Clock[];
    report: Report;
    /** Of two runs: each, what the comparison says, and the report of each. */
    runs?: Run[];
    comparison?: string[];
    reports?: Report[];
    /** What could not be used or is not there, in sentences. */
    notes?: string[];
}
