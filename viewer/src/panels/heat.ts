// The numbers of the heat map: for each rank and each stretch of operations, the mean wait or lateness.

import type { Trace } from "../data/trace";

export interface Heat {
    ranks: number;
    columns: number;
    opFrom: number;
    opTo: number;
    /** ns: the first of their starts, and just after the last. */
    t0: number;
    t1: number;
    mean: Float32Array; // ns, rank * columns + column; NaN: not in it
    most: number;
}

export type HeatOf = "wait" | "lateness";

/** Parts that are taken before the page may draw again. */
const PIECE = 65536;

export function rankCount(trace: Trace): number {
    let most = -1;
    const { members } = trace.bundle;
    for (let i = 0; i < members.count; i++) most = Math.max(most, members.globalRank[i]!);
    return most + 1;
}

export async function heatOf(
    trace: Trace,
    of: HeatOf,
    opFrom: number,
    opTo: number,
    most: number,
    goOn: () => Promise<boolean>,
): Promise<Heat | undefined> {
    const { ops, members } = trace.bundle;
    const ranks = rankCount(trace);
    const none = opTo <= opFrom || ranks === 0;
    const parts = none ? 0 : ops.part[opTo - 1]! + ops.nparts[opTo - 1]! - ops.part[opFrom]!;
    // As many as a rank has operations: then most cells have one.
    const columns = Math.max(1, Math.min(most, Math.round(parts / Math.max(1, ranks))));
    const sum = new Float64Array(ranks * columns);
    const n = new Uint32Array(ranks * columns);
    const heat: Heat = {
        ranks,
        columns,
        opFrom,
        opTo,
        t0: none ? 0 : ops.first[opFrom]!,
        t1: none ? 1 : lastStart(trace, opFrom, opTo) + 1,
        mean: new Float32Array(ranks * columns).fill(NaN),
        most: 0,
    };
    if (none) return heat;
    const last = ops.part[opTo - 1]! + ops.nparts[opTo - 1]!;
    let op = opFrom;
    for (let from = ops.part[opFrom]!; from < last; from += PIECE) {
        await trace.parts.each(from, Math.min(last, from + PIECE), (columnsOf, row, index) => {
            // Parts lie in the order of operations.
            while (op + 1 < opTo && index >= ops.part[op]! + ops.nparts[op]!) op++;
            const rank = members.globalRank[columnsOf.member[row]!]!;
            const value = of === "wait" ? columnsOf.wait[row]! : columnsOf.start[row]! - ops.first[op]!;
            if (rank < 0 || !Number.isFinite(value)) return;
            const cell = rank * columns + columnOf(heat, ops.first[op]!);
            sum[cell]! += value;
            n[cell]!++;
        });
        if (!(await goOn())) return undefined;
    }
    for (let i = 0; i < sum.length; i++)
        if (n[i]! > 0) {
            heat.mean[i] = sum[i]! / n[i]!;
            heat.most = Math.max(heat.most, heat.mean[i]!);
        }
    return heat;
}

/** Operations without a start come last, and count for nothing here. */
function lastStart(trace: Trace, opFrom: number, opTo: number): number {
    const { first } = trace.bundle.ops;
    for (let op = opTo - 1; op > opFrom; op--) if (Number.isFinite(first[op]!)) return first[op]!;
    return first[opFrom]!;
}

/** Columns are equal stretches of time: operations of a few ranks each would else leave the others empty. */
function columnOf(heat: Heat, time: number): number {
    const at = Math.floor(((time - heat.t0) / (heat.t1 - heat.t0)) * heat.columns);
    return Math.min(heat.columns - 1, Math.max(0, at));
}

/** The operations that begin in a column, as a range of indexes. */
export function opsOf(trace: Trace, heat: Heat, column: number): [number, number] {
    const width = (heat.t1 - heat.t0) / heat.columns;
    const [from, to] = trace.opsFrom(heat.t0 + column * width, heat.t0 + (column + 1) * width);
    return [Math.max(from, heat.opFrom), Math.min(to, heat.opTo)];
}

/** From nothing to most in one hue and falling lightness: readable in grey and by the colour-blind (after "cividis"). */
export function heatColour(share: number): [number, number, number] {
    const stops: [number, number, number][] = [
        [0, 34, 78],
        [61, 78, 107],
        [124, 123, 120],
        [188, 173, 106],
        [255, 234, 70],
    ];
    const at = Math.min(0.9999, Math.max(0, share)) * (stops.length - 1);
    const [a, b] = [stops[Math.floor(at)]!, stops[Math.floor(at) + 1]!];
    return [0, 1, 2].map((i) => Math.round(a[i]! + (b[i]! - a[i]!) * (at % 1))) as [number, number, number];
}
