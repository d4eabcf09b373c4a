// Counters over time, from the operations alone: bytes in flight, lateness, bus bandwidth. Sums are kept as integrals over
// time, so that a pixel costs two binary searches however many operations fall onto it.

import { Level, type Bundle } from "../data/bundle";
import { lowerBound } from "../data/chunks";
import { groupAbove } from "../data/groups";
import { NONE, OpFlag, OpKind } from "../data/layout";

/** A sum of values, each from one time to another. */
export class Integral {
    private readonly times: Float64Array;
    private readonly level: Float64Array; // from times[i] on
    private readonly area: Float64Array; // up to times[i]

    constructor(from: number[], to: number[], value: number[]) {
        const n = from.length;
        const order = Float64Array.from({ length: 2 * n }, (_, i) => i);
        const at = (i: number): number => (i < n ? from[i]! : to[i - n]!);
        order.sort((a, b) => at(a) - at(b));
        this.times = new Float64Array(2 * n);
        this.level = new Float64Array(2 * n);
        this.area = new Float64Array(2 * n);
        let [level, area] = [0, 0];
        for (let k = 0; k < 2 * n; k++) {
            const i = order[k]!;
            const time = at(i);
            if (k > 0) area += level * (time - this.times[k - 1]!);
            level += i < n ? value[i]! : -value[i - n]!;
            this.times[k] = time;
            this.level[k] = level;
            this.area[k] = area;
        }
    }

    private until(time: number): number {
        const i = lowerBound(this.times, time) - 1;
        return i < 0 ? 0 : this.area[i]! + this.level[i]! * (time - this.times[i]!);
    }

    /** Over a stretch of time. */
    of(t0: number, t1: number): number {
        // Rounding may leave a little where there is nothing.
        return Math.max(0, this.until(t1) - this.until(t0));
    }
}

/** What is counted: the whole run (or one of two), a host, or a rank. */
export interface Scope {
    label: string;
    groups: Set<number>; // of ranks
}

export function scopesOf(bundle: Bundle): Scope[] {
    const { groups, strings, meta } = bundle;
    const ranks = [...Array(groups.count).keys()].filter((g) => groups.level[g] === Level.Rank);
    const within = (level: Level, prefix: string): Scope[] => {
        const found = new Map<number, Set<number>>();
        for (const rank of ranks) {
            const above = groupAbove(bundle, rank, level);
            if (above !== NONE) found.set(above, (found.get(above) ?? new Set()).add(rank));
        }
        return [...found].map(([group, set]) => ({ label: prefix + strings.get(groups.label[group]!), groups: set }));
    };
    const runs = meta.runs ? within(Level.Run, "") : [{ label: "whole run", groups: new Set(ranks) }];
    const hosts = within(Level.Host, "");
    return [...runs, ...(hosts.length > 1 ? hosts : []), ...(ranks.length > 1 ? within(Level.Rank, "") : [])];
}

/** Operations that ranks of a scope take part in; what is inside a fan-out does not count beside it. */
export function opsOfScope(bundle: Bundle, scope: Scope): Uint32Array {
    const { ops, members } = bundle;
    const ranksOf = new Map<number, Set<number>>(); // by communicator: ranks in it
    for (let i = 0; i < members.count; i++)
        if (scope.groups.has(members.group[i]!))
            ranksOf.set(members.comm[i]!, (ranksOf.get(members.comm[i]!) ?? new Set()).add(members.rank[i]!));
    const list = new Uint32Array(ops.count);
    let n = 0;
    for (let op = 0; op < ops.count; op++) {
        const ranks = ranksOf.get(ops.comm[op]!);
        if (!ranks || ops.flags[op]! & OpFlag.Inside || !Number.isFinite(ops.first[op]!)) continue;
        if (ops.kind[op] === OpKind.Pair && !ranks.has(ops.src[op]!) && !ranks.has(ops.dst[op]!)) continue;
        list[n++] = op;
    }
    return list.subarray(0, n);
}

export type CounterId = "bytes" | "late" | "busbw";

export const COUNTERS: { id: CounterId; label: string; text: string }[] = [
    { id: "bytes", label: "bytes in flight", text: "sizes of the operations that transfer at a time, mean of a pixel" },
    { id: "late", label: "lateness", text: "how long the last rank lets the others wait, most of a pixel" },
    { id: "busbw", label: "bus bandwidth", text: "of the operations that transfer at a time, mean of a pixel" },
];

export class Counters {
    private readonly bytes: Integral;
    private readonly rate: Integral;
    private readonly transfers: Integral;
    private readonly lateAt: Float64Array;
    private readonly late: Float64Array;

    /** `least`: the least wait in an operation that is significant. */
    constructor(bundle: Bundle, scope: Scope, least: (op: number) => number) {
        const { ops } = bundle;
        const list = opsOfScope(bundle, scope);
        const sized: [number[], number[], number[]] = [[], [], []];
        const rated: [number[], number[], number[]] = [[], [], []];
        const waits: [number, number][] = [];
        for (const op of list) {
            const [last, end] = [ops.last[op]!, ops.end[op]!];
            // An operation transfers when its last rank has come. Where that is below the clock error: from its start.
            const from = Number.isFinite(last) && last < end ? last : ops.first[op]!;
            if (end > from && ops.bytes[op]! > 0) add(sized, from, end, ops.bytes[op]!);
            if (end > from && Number.isFinite(ops.busbw[op]!)) add(rated, from, end, ops.busbw[op]!);
            const wait = ops.longestWait[op]!;
            if (wait > 0 && wait >= least(op)) waits.push([Number.isFinite(last) ? last : ops.first[op]!, wait]);
        }
        waits.sort((a, b) => a[0] - b[0]);
        this.bytes = new Integral(...sized);
        this.rate = new Integral(...rated);
        this.transfers = new Integral(
            rated[0],
            rated[1],
            rated[0].map(() => 1),
        );
        this.lateAt = Float64Array.from(waits, ([at]) => at);
        this.late = Float64Array.from(waits, ([, wait]) => wait);
    }

    /** The value of each of `width` pixels of a window; 0: nothing there. */
    fold(id: CounterId, t0: number, t1: number, width: number): Float64Array {
        const out = new Float64Array(width);
        const step = (t1 - t0) / width;
        for (let x = 0; x < width; x++) {
            const [a, b] = [t0 + x * step, t0 + (x + 1) * step];
            if (id === "bytes") out[x] = this.bytes.of(a, b) / step;
            else if (id === "busbw") {
                const time = this.transfers.of(a, b);
                out[x] = time > step * 1e-6 ? this.rate.of(a, b) / time : 0;
            } else {
                const end = lowerBound(this.lateAt, b);
                for (let i = lowerBound(this.lateAt, a); i < end; i++) out[x] = Math.max(out[x]!, this.late[i]!);
            }
        }
        return out;
    }
}

function add(to: [number[], number[], number[]], from: number, end: number, value: number): void {
    to[0].push(from);
    to[1].push(end);
    to[2].push(value);
}
