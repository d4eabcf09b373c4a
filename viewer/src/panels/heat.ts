// The numbers of the heat map: for each rank and each stretch of operations, the mean wait or lateness.

import type { Trace } from "../data/trace";

export interface Heat {
    ranks: number;
    columns: number;
    opFrom: number;
    opTo: number;
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
    const columns = Math.max(1, Math.min(most, opTo - opFrom));
    const sum = new Float64Array(ranks * columns);
    const n = new Uint32Array(ranks * columns);
    const heat: Heat = { ranks, columns, opFrom, opTo, mean: new Float32Array(ranks * columns).fill(NaN), most: 0 };
    if (opTo <= opFrom || ranks === 0) return heat;
    const last = ops.part[opTo - 1]! + ops.nparts[opTo - 1]!;
    let op = opFrom;
    for (let from = ops.part[opFrom]!; from < last; from += PIECE) {
        await trace.parts.each(from, Math.min(last, from + PIECE), (columnsOf, row, index) => {
            // Parts lie in the order of operations.
            while (op + 1 < opTo && index >= ops.part[op]! + ops.nparts[op]!) op++;
            const rank = members.globalRank[columnsOf.member[row]!]!;
            const value = of === "wait" ? columnsOf.wait[row]! : columnsOf.start[row]! - ops.first[op]!;
            if (rank < 0 || !Number.isFinite(value)) return;
            const cell = rank * columns + columnOf(heat, op);
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

export function columnOf(heat: Heat, op: number): number {
    return Math.floor(((op - heat.opFrom) * heat.columns) / (heat.opTo - heat.opFrom));
}

export function firstOpOf(heat: Heat, column: number): number {
    return heat.opFrom + Math.ceil((column * (heat.opTo - heat.opFrom)) / heat.columns);
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
