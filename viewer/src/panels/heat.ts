// The numbers of the heat map: for each rank and each stretch of operations, the mean wait or lateness.

import { Level } from "../data/bundle";
import { NONE, OpKind } from "../data/layout";
import type { Trace } from "../data/trace";
import { groupAbove } from "../data/groups";

export interface Heat {
    ranks: number;
    /** Group of each rank, in the order of the timeline: a rank without a number has a row, too. */
    groups: number[];
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

/** Ranks that are in any communicator, in the order of the timeline. */
export function rankGroups(trace: Trace): number[] {
    const { members, groups } = trace.bundle;
    const there = new Set<number>();
    for (let i = 0; i < members.count; i++) if (members.group[i]! < groups.count) there.add(members.group[i]!);
    return [...there].sort((a, b) => a - b);
}

/** What is written beside the rows: hosts; ranks where each is a host of its own, or a file. */
export function namesBeside(trace: Trace, rows: number[]): { name: string; from: number; to: number }[] {
    const hosts = hostsOf(trace, rows);
    if (hosts.length < rows.length) return hosts;
    const { groups, strings } = trace.bundle;
    return rows.map((group, i) => ({ name: strings.get(groups.label[group]!), from: i, to: i + 1 }));
}

/** Where each host begins among rows: its name, first row, and the row behind its last. */
export function hostsOf(trace: Trace, rows: number[]): { name: string; from: number; to: number }[] {
    const { groups, strings } = trace.bundle;
    const hosts: { group: number; name: string; from: number; to: number }[] = [];
    rows.forEach((group, i) => {
        const host = groupAbove(trace.bundle, group, Level.Host);
        const last = hosts[hosts.length - 1];
        if (last && last.group === host) last.to = i + 1;
        else
            hosts.push({
                group: host,
                name: host === NONE ? "?" : strings.get(groups.label[host]!),
                from: i,
                to: i + 1,
            });
    });
    return hosts;
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
    const groups = rankGroups(trace);
    const ranks = groups.length;
    const rowOf = new Map(groups.map((group, i) => [group, i]));
    const none = opTo <= opFrom || ranks === 0;
    const parts = none ? 0 : ops.part[opTo - 1]! + ops.nparts[opTo - 1]! - ops.part[opFrom]!;
    // As many as a rank has operations: then most cells have one.
    const columns = Math.max(1, Math.min(most, Math.round(parts / Math.max(1, ranks))));
    const sum = new Float64Array(ranks * columns);
    const n = new Uint32Array(ranks * columns);
    const heat: Heat = {
        ranks,
        groups,
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
            if (ops.kind[op] === OpKind.FanOut) return; // its parts are those of its pairs, which count
            const rank = rowOf.get(members.group[columnsOf.member[row]!]!) ?? -1;
            const value = of === "wait" ? columnsOf.wait[row]! : columnsOf.start[row]! - ops.first[op]!;
            const known = trace.knownWait(op, value); // lateness is a difference of the same clocks
            if (rank < 0 || !Number.isFinite(value)) return;
            const cell = rank * columns + columnOf(heat, ops.first[op]!);
            sum[cell]! += known;
            n[cell]!++;
        });
        if (!(await goOn())) return undefined;
    }
    for (let i = 0; i < sum.length; i++) if (n[i]! > 0) heat.mean[i] = sum[i]! / n[i]!;
    heat.most = brightest(heat.mean);
    return heat;
}

/** What is drawn brightest: one cell far above all others must not make these all dark. */
function brightest(mean: Float32Array): number {
    const known = mean.filter((value) => !Number.isNaN(value)).sort();
    if (known.length === 0) return 0;
    const most = known[known.length - 1]!;
    const usual = known[Math.floor(0.995 * (known.length - 1))]!;
    return most > 4 * usual && usual > 0 ? 4 * usual : most;
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

/** The picture: a row of pixels shows the largest of the ranks that fall onto it: none is lost among thousands. */
export function heatPixels(heat: Heat, rows: number): Uint8ClampedArray {
    const { columns, ranks, mean } = heat;
    const pixels = new Uint8ClampedArray(rows * columns * 4);
    for (let y = 0; y < rows; y++) {
        const from = Math.floor((y * ranks) / rows);
        const to = Math.max(from + 1, Math.floor(((y + 1) * ranks) / rows));
        for (let x = 0; x < columns; x++) {
            let value = NaN;
            for (let rank = from; rank < to && rank < ranks; rank++) {
                const cell = mean[rank * columns + x]!;
                if (!(cell <= value) && !Number.isNaN(cell)) value = cell;
            }
            const [r, g, b] = Number.isNaN(value) ? [128, 128, 128] : heatColour(heat.most > 0 ? value / heat.most : 0);
            pixels.set([r!, g!, b!, Number.isNaN(value) ? 40 : 255], (y * columns + x) * 4);
        }
    }
    return pixels;
}

/** The colours from least to most, for a legend. */
export function heatGradient(): string {
    const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => `rgb(${heatColour(share).join(",")})`);
    return `linear-gradient(90deg, ${stops.join(", ")})`;
}

/** From nothing to most by lightness: readable in grey and by the colour-blind (after "cividis"). */
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
