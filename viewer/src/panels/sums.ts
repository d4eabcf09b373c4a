// Sums of a span: how often, how long, how much and how fast each kind was there, for each rank.

import { firstEndAfter, type Block } from "../data/block";
import { Level } from "../data/bundle";
import { NONE } from "../data/layout";
import type { Trace } from "../data/trace";
import { groupAbove } from "../data/groups";

export interface Sum {
    group: number; // of the rank; NONE: none, or all together
    kind: number; // NONE: all together
    bars: number;
    /** ns within the span. */
    time: number;
    wait: number;
    /** Of operations that are whole in the span and whose size is known. */
    bytes: number;
    bandwidth: number; // sum of the bus bandwidths, GB/s
    timed: number; // how many had one
}

export type By = "rank and function" | "function" | "rank";

/** Adds the bars of a block that lie in t0 .. t1. */
export function addBlock(
    found: Map<string, Sum>,
    trace: Trace,
    block: Block,
    group: number,
    t0: number,
    t1: number,
    by: By,
): void {
    const { ops } = trace.bundle;
    for (let i = firstEndAfter(block, t0); i < block.count && block.start[i]! < t1; i++) {
        const kind = by === "rank" ? NONE : block.kind[i]!;
        const place = by === "function" ? NONE : group;
        const key = `${place} ${kind}`;
        let sum = found.get(key);
        if (!sum) {
            sum = { group: place, kind, bars: 0, time: 0, wait: 0, bytes: 0, bandwidth: 0, timed: 0 };
            found.set(key, sum);
        }
        const [start, end] = [block.start[i]!, block.end[i]!];
        sum.bars++;
        // Only what lies in the span counts.
        sum.time += Math.min(end, t1) - Math.max(start, t0);
        const waited = block.wait ? start + block.wait[i]! : start;
        sum.wait += Math.max(0, Math.min(waited, t1) - Math.max(start, t0));
        const op = block.op[i]! - 1;
        if (op < 0 || op >= ops.count || start < t0 || end > t1 || !isOperation(trace, block.kind[i]!)) continue;
        if (Number.isFinite(ops.bytes[op]!)) sum.bytes += ops.bytes[op]!;
        if (!Number.isFinite(ops.busbw[op]!)) continue;
        sum.bandwidth += ops.busbw[op]!;
        sum.timed++;
    }
}

/** Channels and steps name the operation they belong to: its bytes are counted once, on the operation's own bar. */
function isOperation(trace: Trace, kind: number): boolean {
    const { kinds, rows } = trace.bundle.meta;
    const row = rows[kinds[kind]?.row ?? -1];
    return row !== undefined && /^op/.test(row.id);
}

/** Sums over lanes; `pause` lets the page draw and says whether to go on. */
export async function sumsOf(
    trace: Trace,
    lanes: Iterable<number>,
    t0: number,
    t1: number,
    by: By,
    pause: (sums: Sum[]) => Promise<boolean>,
    shiftOf: (lane: number) => number = () => 0,
): Promise<Sum[] | undefined> {
    const { bundle, blocks } = trace;
    const found = new Map<string, Sum>();
    for (const lane of lanes) {
        const group = groupAbove(bundle, bundle.lanes.group[lane]!, Level.Rank);
        const [from, to] = [t0 - shiftOf(lane), t1 - shiftOf(lane)];
        for (let id = bundle.lanes.blockFrom[lane]!; id < bundle.lanes.blockFrom[lane + 1]!; id++) {
            if (bundle.blocks.to[id]! <= from || bundle.blocks.from[id]! >= to) continue;
            addBlock(found, trace, await blocks.load(id), group, from, to, by);
            if (!(await pause([...found.values()]))) return undefined;
        }
    }
    return [...found.values()];
}
