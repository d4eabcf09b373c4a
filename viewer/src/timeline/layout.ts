// Which rows there are and where. A folded group is one row on which its operations lie over each other; an open one is
// a heading with its lanes and groups below.

import type { Bundle } from "../data/bundle";
import { Level } from "../data/bundle";
import { NONE } from "../data/layout";

export interface Row {
    y: number; // CSS pixels from the top of all rows
    height: number;
    /** Lanes that are drawn on it, the later over the earlier; none: a heading. */
    lanes: number[];
    group: number;
    depth: number; // for the indent
    label: string;
    /** null: cannot be opened (a lane). */
    open: boolean | null;
    pinned: boolean;
    /** Some of its lanes hold what overlaps: where it does, they have the lower half. */
    halves: boolean;
}

export interface Layout {
    pinned: Row[]; // above the others, and always there; their y counts from the top
    pinnedHeight: number;
    rows: Row[];
    height: number;
    /** Row of each lane, for relations; of a lane that is folded away: the row of its group. -1: not shown. */
    rowOfLane: Int32Array;
}

export interface LayoutOptions {
    rowsOn: boolean[]; // by row kind
    open: Set<number>; // groups
    pinned: number[]; // lanes
    only: Set<number> | null; // groups of Level.Rank to show, or all
    rowHeight?: number;
}

export const ROW_HEIGHT = 20;
export const THIN_HEIGHT = 14;
export const HEADING_HEIGHT = 20;
/** Lanes that are laid over each other on one row, at most: a host may have thousands. */
const MOST_LANES = 96;

/** Few ranks get high rows: a picture for a projector. */
export function rowHeightFor(bundle: Bundle): number {
    let ranks = 0;
    for (let g = 0; g < bundle.groups.count; g++) if (bundle.groups.level[g] === Level.Rank) ranks++;
    return ranks <= 8 ? 30 : ranks <= 16 ? 24 : ROW_HEIGHT;
}

/** Opens hosts and processes, so that there is one row a GPU. */
export function firstOpen(bundle: Bundle): Set<number> {
    const open = new Set<number>();
    for (let g = 0; g < bundle.groups.count; g++) if (bundle.groups.level[g]! < Level.Rank) open.add(g);
    return open;
}

export function layoutRows(bundle: Bundle, options: LayoutOptions): Layout {
    const { groups, lanes, meta, strings } = bundle;
    const rows: Row[] = [];
    const rowOfLane = new Int32Array(lanes.count).fill(-1);
    let y = 0;
    const add = (row: Omit<Row, "y" | "pinned" | "halves">): void => {
        const halves = row.lanes.length > 1 && row.lanes.some((lane) => lanes.sub[lane]! > 0);
        rows.push({ ...row, y, pinned: false, halves });
        y += row.height;
    };
    const children = childrenOf(bundle);
    const own = ownLanes(bundle);
    const isOn = (lane: number): boolean => options.rowsOn[lanes.kind[lane]!] ?? false;

    const visit = (group: number, depth: number, before: string): void => {
        const label = before + strings.get(groups.label[group]!);
        const below = children[group]!;
        const mine = own[group]!;
        const open = options.open.has(group);
        // A group with one group in it and nothing else is the same line: "host00 › pid 7 › rank 0".
        if (below.length === 1 && mine.length === 0 && open) {
            visit(below[0]!, depth, `${label} › `);
            return;
        }
        if (groups.level[group] === Level.Rank && options.only && !options.only.has(group)) return;
        if (!open) {
            const chosen = summaryLanes(bundle, group, options.rowsOn);
            for (let lane = groups.laneFrom[group]!; lane < groups.laneTo[group]!; lane++)
                rowOfLane[lane] = rows.length;
            add({ height: options.rowHeight ?? ROW_HEIGHT, lanes: chosen, group, depth, label, open: false });
            return;
        }
        add({ height: HEADING_HEIGHT, lanes: [], group, depth, label, open: true });
        for (const lane of mine) {
            if (!isOn(lane)) continue;
            rowOfLane[lane] = rows.length;
            const height = lanes.sub[lane]! > 0 ? THIN_HEIGHT : ROW_HEIGHT;
            add({
                height,
                lanes: [lane],
                group,
                depth: depth + 1,
                label: strings.get(lanes.label[lane]!) || meta.rows[lanes.kind[lane]!]!.label,
                open: null,
            });
        }
        for (const child of below) visit(child, depth + 1, "");
    };
    for (let g = 0; g < groups.count; g++) if (groups.parent[g] === NONE) visit(g, 0, "");
    const pinned = pinnedRows(bundle, options.pinned);
    return { pinned, pinnedHeight: pinned.reduce((sum, row) => sum + row.height, 0), rows, height: y, rowOfLane };
}

function pinnedRows(bundle: Bundle, pinned: number[]): Row[] {
    let y = 0;
    return pinned.map((lane) => {
        const group = bundle.lanes.group[lane]!;
        const row: Row = {
            y,
            height: ROW_HEIGHT,
            lanes: [lane],
            group,
            depth: 0,
            label: laneTitle(bundle, lane),
            open: null,
            pinned: true,
            halves: false,
        };
        y += row.height;
        return row;
    });
}

/** The lanes of kinds that sum a group up, else all that are on. */
export function summaryLanes(bundle: Bundle, group: number, rowsOn: boolean[]): number[] {
    const { groups, lanes, meta } = bundle;
    const chosen: number[] = [];
    const rest: number[] = [];
    for (let lane = groups.laneFrom[group]!; lane < groups.laneTo[group]!; lane++) {
        const kind = lanes.kind[lane]!;
        if (!rowsOn[kind]) continue;
        (meta.rows[kind]?.summary ? chosen : rest).push(lane);
    }
    return (chosen.length > 0 ? chosen : rest).slice(0, MOST_LANES);
}

function childrenOf(bundle: Bundle): number[][] {
    const list: number[][] = Array.from({ length: bundle.groups.count }, () => []);
    for (let g = 0; g < bundle.groups.count; g++) {
        const parent = bundle.groups.parent[g]!;
        // Levels go down: a damaged file can make neither a circle nor a tree without a bottom.
        if (
            parent < g &&
            bundle.groups.level[g]! > bundle.groups.level[parent]! &&
            bundle.groups.level[g]! <= Level.Comm
        )
            list[parent]!.push(g);
    }
    return list;
}

function ownLanes(bundle: Bundle): number[][] {
    const list: number[][] = Array.from({ length: bundle.groups.count }, () => []);
    for (let lane = 0; lane < bundle.lanes.count; lane++) list[bundle.lanes.group[lane]!]?.push(lane);
    return list;
}

/** "host00 › pid 7 › rank 0 › default_pg › operations" */
export function laneTitle(bundle: Bundle, lane: number): string {
    const words = [bundle.strings.get(bundle.lanes.label[lane]!)];
    for (let g = bundle.lanes.group[lane]!, n = 0; g !== NONE && n < 8; g = bundle.groups.parent[g]!, n++)
        words.unshift(bundle.strings.get(bundle.groups.label[g]!));
    return words.join(" › ");
}

/** The group at a level that a group is in, itself included; NONE: none. */
export function groupAbove(bundle: Bundle, group: number, level: Level): number {
    for (let g = group, n = 0; g !== NONE && n < 8; g = bundle.groups.parent[g]!, n++)
        if (bundle.groups.level[g] === level) return g;
    return NONE;
}

/** The row at a height, by binary search; -1: none. */
export function rowAt(rows: Row[], y: number): number {
    let low = 0;
    let high = rows.length;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (rows[middle]!.y + rows[middle]!.height > y) high = middle;
        else low = middle + 1;
    }
    return low < rows.length && rows[low]!.y <= y ? low : -1;
}
