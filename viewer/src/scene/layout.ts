// Which rows there are and where. A collapsed group is one row on which its operations are overlaid; an expanded one is
// a heading with its lanes and groups below.

import type { Bundle } from "../data/bundle";
import { Level } from "../data/bundle";
import { groupAbove } from "../data/groups";
import { NONE } from "../data/layout";

export interface Row {
    y: number; // CSS pixels from the top of all rows
    height: number;
    /** Lanes that are drawn on it, the later over the earlier; none: a heading. */
    lanes: number[];
    group: number;
    depth: number; // for the indent
    label: string;
    /** Where it belongs, in dimmed text beside the label: "pid 7", "default_pg, rank 3". */
    context: string;
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
    /** Row that a lane is drawn on, or that stands for it: of its group, or the closest one above. -1: not shown. */
    rowOfLane: Int32Array;
    /** 1: the row only stands for the lane. */
    standsFor: Uint8Array;
    /** Row of each group, or the closest one above. */
    rowOfGroup: Int32Array;
}

export interface LayoutOptions {
    rowsOn: boolean[]; // by row kind
    open: Set<number>; // groups
    pinned: number[]; // lanes
    only: Set<number> | null; // groups of Level.Rank to show, in their order; null: all
    hiddenLanes?: Set<number>;
    hiddenGroups?: Set<number>;
    rowHeight?: number;
}

export const ROW_HEIGHT = 20;
export const THIN_HEIGHT = 16;
/** Of the lanes of one name where there are many: all that goes on at a time is seen as one dense band. */
export const DENSE_HEIGHT = 7;
const DENSE_FROM = 4;
/** Kinds of rows of a rank that stand above its operations: what led to them. */
const LEADS = new Set(["calls", "launches"]);
export const HEADING_HEIGHT = 17;
/** Most lanes that are overlaid on one row: a host may have thousands. */
const MOST_LANES = 96;

/** Few ranks get high rows: a picture for a projector. Thousands get low ones: more of them are seen at once. */
export function rowHeightFor(bundle: Bundle): number {
    let ranks = 0;
    for (let g = 0; g < bundle.groups.count; g++) if (bundle.groups.level[g] === Level.Rank) ranks++;
    return ranks <= 4 ? 38 : ranks <= 8 ? 32 : ranks <= 16 ? 26 : ranks <= 256 ? ROW_HEIGHT : 16;
}

/** Opens hosts, and processes that have ranks and no threads, so that there is one row a GPU. */
export function firstOpen(bundle: Bundle): Set<number> {
    const open = new Set<number>();
    const own = ownLanes(bundle);
    const children = childrenOf(bundle);
    for (let g = 0; g < bundle.groups.count; g++) {
        const level = bundle.groups.level[g]!;
        if (level === Level.Host || level === Level.Run) open.add(g);
        if (level === Level.Process && own[g]!.length === 0 && children[g]!.length > 0) open.add(g);
    }
    return open;
}

export function layoutRows(bundle: Bundle, options: LayoutOptions): Layout {
    const { groups, lanes, meta, strings } = bundle;
    const rows: Row[] = [];
    const rowOfLane = new Int32Array(lanes.count).fill(-1);
    const standsFor = new Uint8Array(lanes.count).fill(1);
    const rowOfGroup = new Int32Array(groups.count).fill(-1);
    let y = 0;
    const add = (row: Omit<Row, "y" | "pinned" | "halves">): number => {
        const halves = row.lanes.length > 1 && row.lanes.some((lane) => lanes.sub[lane]! > 0);
        rows.push({ ...row, y, pinned: false, halves });
        y += row.height;
        return rows.length - 1;
    };
    const children = childrenOf(bundle);
    const own = ownLanes(bundle);
    const isOn = (lane: number): boolean =>
        (options.rowsOn[lanes.kind[lane]!] ?? false) && !options.hiddenLanes?.has(lane);
    const isShown = (group: number): boolean => !options.hiddenGroups?.has(group);
    const text = (group: number): string => strings.get(groups.label[group]!);

    /**
     * `over`: row of the closest group above; `before`: groups that became one line with this one, `extra`: their
     * lanes.
     */
    const visit = (group: number, depth: number, over: number, before: number[], extra: number[]): void => {
        rowOfGroup[group] = over;
        for (let lane = groups.laneFrom[group]!; lane < groups.laneTo[group]!; lane++) rowOfLane[lane] = over;
        if (!isShown(group)) return;
        const below = children[group]!;
        const mine = [...extra, ...own[group]!];
        const open = options.open.has(group);
        const level = groups.level[group]!;
        // A group with one group in it is the same line: "rank 0", and beside it "pid 7". The threads of a process are
        // those of its one rank then.
        const merges = below.length === 1 && (mine.length === 0 ? open : level === Level.Process);
        if (merges && level !== Level.Run) {
            visit(below[0]!, depth, over, [...before, group], mine);
            rowOfGroup[group] = rowOfGroup[below[0]!]!;
            for (const lane of mine) if (rowOfLane[lane] === over) rowOfLane[lane] = rowOfGroup[group]!;
            return;
        }
        const chain = [...before, group];
        const named = chain.filter((g) => g === group || groups.level[g]! >= Level.Rank);
        const label = named.map(text).join(" › ");
        const context = chain
            .filter((g) => !named.includes(g))
            .map(text)
            .join(" ");
        // One row a GPU: a process of several that is not open shows these, without its threads.
        const half = !open && level === Level.Process && below.length > 1 && mine.length > 0;
        if (!open && !half) {
            const chosen = summaryLanes(bundle, group, isOn);
            const at = add({
                height:
                    chosen.length === 0
                        ? HEADING_HEIGHT
                        : level === Level.Rank
                          ? (options.rowHeight ?? ROW_HEIGHT)
                          : ROW_HEIGHT,
                lanes: chosen,
                group,
                depth,
                label,
                context,
                open: false,
            });
            rowOfGroup[group] = at;
            rowOfLane.fill(at, groups.laneFrom[group]!, Math.max(groups.laneFrom[group]!, groups.laneTo[group]!));
            for (const lane of extra) rowOfLane[lane] = at;
            for (const lane of chosen) standsFor[lane] = 0;
            return;
        }
        const heading = add({ height: HEADING_HEIGHT, lanes: [], group, depth, label, context, open });
        rowOfGroup[group] = heading;
        const laneRows = (mine: number[]): void => {
            for (let k = 0, deep = 0; k < mine.length; k++) {
                const lane = mine[k]!;
                const again = k > 0 && isAgain(bundle, mine[k - 1]!, lane);
                if (!again) for (deep = 1; isAgain(bundle, lane, mine[k + deep] ?? NONE); ) deep++;
                // Operations stay legible: they are what users look for.
                const dense = again && deep > DENSE_FROM && !meta.rows[lanes.kind[lane]!]?.summary;
                rowOfLane[lane] = heading;
                if (half || !isOn(lane)) continue;
                // What overlaps is on further lanes of the same name: labelled once.
                rowOfLane[lane] = add({
                    height: dense ? DENSE_HEIGHT : lanes.sub[lane]! > 0 ? THIN_HEIGHT : ROW_HEIGHT,
                    lanes: [lane],
                    group,
                    depth: depth + 1,
                    label: dense
                        ? ""
                        : again
                          ? "″"
                          : strings.get(lanes.label[lane]!) || meta.rows[lanes.kind[lane]!]?.label || "?",
                    context: again ? "" : laneKind(bundle, lane),
                    open: null,
                });
                standsFor[lane] = 0;
            }
        };
        // Operations are what one opens a rank for: behind the calls and launches that lead to them, and before what
        // else went on there.
        const lead = level === Level.Rank ? mine.filter((lane) => LEADS.has(meta.rows[lanes.kind[lane]!]!.id)) : mine;
        const rest = level === Level.Rank ? mine.filter((lane) => !lead.includes(lane)) : [];
        laneRows(lead);
        for (const child of below) visit(child, depth + 1, heading, [], []);
        laneRows(rest);
    };
    // Chosen ranks come in the order they were chosen in, without headings: host and process are named beside them.
    if (options.only)
        for (const g of options.only) visit(g, 0, -1, above(bundle, g), threadsOf(bundle, g, children, own));
    else for (let g = 0; g < groups.count; g++) if (groups.parent[g] === NONE) visit(g, 0, -1, [], []);
    const pinned = pinnedRows(bundle, options.pinned);
    const pinnedHeight = pinned.reduce((sum, row) => sum + row.height, 0);
    return { pinned, pinnedHeight, rows, height: y, rowOfLane, standsFor, rowOfGroup };
}

/** Whether a lane goes on with what overlaps on the one before it. */
function isAgain({ lanes }: Bundle, before: number, lane: number): boolean {
    const same = (column: ArrayLike<number>): boolean => column[before] === column[lane];
    return lane !== NONE && lanes.sub[lane]! > 0 && same(lanes.kind) && same(lanes.group) && same(lanes.label);
}

/** "API calls": what is on a lane, as far as its label does not say so. */
function laneKind(bundle: Bundle, lane: number): string {
    const { lanes, strings, meta } = bundle;
    const kind = meta.rows[lanes.kind[lane]!]?.label ?? "";
    return strings.get(lanes.label[lane]!).includes(kind) ? "" : kind;
}

/** "API calls, default_pg": what it is and belongs to, for a row that has no heading above it. */
function laneContext(bundle: Bundle, lane: number): string {
    const { groups, lanes, strings } = bundle;
    const comm = groupAbove(bundle, lanes.group[lane]!, Level.Comm);
    const words = [laneKind(bundle, lane), comm === NONE ? "" : strings.get(groups.label[comm]!)];
    return words.filter((word) => word !== "").join(", ");
}

/** "rank 3 › operations": whose row it is comes first, so that it is never cut off. */
function pinnedLabel(bundle: Bundle, lane: number): string {
    const { groups, lanes, strings } = bundle;
    const rank = groupAbove(bundle, lanes.group[lane]!, Level.Rank);
    const place = rank !== NONE ? rank : lanes.group[lane]!;
    return `${strings.get(groups.label[place]!)} › ${strings.get(lanes.label[lane]!)}`;
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
            label: pinnedLabel(bundle, lane),
            context: laneContext(bundle, lane),
            open: null,
            pinned: true,
            halves: false,
        };
        y += row.height;
        return row;
    });
}

/** The lanes of kinds that sum a group up, else all that are on. */
export function summaryLanes(bundle: Bundle, group: number, isOn: (lane: number) => boolean): number[] {
    const { groups, lanes, meta } = bundle;
    const chosen: number[] = [];
    const rest: number[] = [];
    for (let lane = groups.laneFrom[group]!; lane < groups.laneTo[group]!; lane++) {
        const kind = lanes.kind[lane]!;
        if (!isOn(lane)) continue;
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

/** Lanes of the process of a rank, where it is its only one. */
function threadsOf(bundle: Bundle, rank: number, children: number[][], own: number[][]): number[] {
    const process = bundle.groups.parent[rank]!;
    return process !== NONE && children[process]!.length === 1 ? own[process]! : [];
}

/** The groups above a group, the highest first. */
function above(bundle: Bundle, group: number): number[] {
    const list: number[] = [];
    for (let g = bundle.groups.parent[group]!, n = 0; g !== NONE && n < 8; g = bundle.groups.parent[g]!, n++)
        list.unshift(g);
    return list;
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
