// One block of bars, as the renderer needs it: absolute times in Float64 (exact for 104 days), and a summary of every
// 16 bars so that drawing a crowd does not visit each.

import { FormatError, Table, type Numbers } from "./columns";
import { NONE } from "./layout";

/** Bars in a group of the summary. 16: a pixel's edges cost at most 30 bars, a crowd a sixteenth. */
export const GROUP = 16;
export const GROUP_SHIFT = 4;

export interface Block {
    first: number; // number of its first bar
    count: number;
    start: Float64Array; // ns, ascending
    end: Float64Array; // ns; no bar begins before the one before it ended
    kind: Uint8Array;
    flags: Uint8Array;
    name: Numbers; // string; 0: the kind's label
    op: Numbers; // 1 + operation; 0: none
    wait: Numbers | undefined; // ns from the start: the part spent waiting for the last rank
    fade: Numbers | undefined; // ns beyond the end: where the end may be
    parent: Numbers | undefined; // 1 + bar; 0: none
    marks: Numbers[]; // ns from the start; 0: none
    /** Of each group of bars: time covered, longest kind, its duration, all flags. */
    busy: Float32Array;
    longest: Uint8Array;
    longestTime: Float32Array;
    anyFlags: Uint8Array;
    longestBar: number; // ns, of all
    bytes: number; // of memory, for the cache
}

const MARKS = ["m1", "m2", "m3"];
const NONE_WIDE = 2n ** 64n - 1n;

export function decodeBlock(bytes: Uint8Array, first: number, count: number, from: number): Block {
    const table = new Table(bytes);
    if (table.rows !== count) throw new FormatError(`a block has ${table.rows} bars instead of ${count}`);
    const offset = table.need("start");
    const duration = table.need("dur");
    const start = new Float64Array(count);
    const end = new Float64Array(count);
    for (let i = 0; i < count; i++) {
        const s = from + offset[i]!;
        start[i] = s;
        end[i] = s + duration[i]!;
    }
    const zeros = () => new Uint8Array(count);
    const kind = table.find("kind") ?? zeros();
    const flags = table.find("flags") ?? zeros();
    if (!(kind instanceof Uint8Array) || !(flags instanceof Uint8Array))
        throw new FormatError("kind and flags are bytes");
    const groups = (count + GROUP - 1) >>> GROUP_SHIFT;
    const block: Block = {
        first,
        count,
        start,
        end,
        kind,
        flags,
        name: table.find("name") ?? zeros(),
        op: table.find("op") ?? zeros(),
        wait: table.find("wait"),
        fade: table.find("fade"),
        parent: table.find("parent"),
        marks: MARKS.map((name) => table.find(name)).filter((column) => column !== undefined),
        busy: new Float32Array(groups),
        longest: new Uint8Array(groups),
        longestTime: new Float32Array(groups),
        anyFlags: new Uint8Array(groups),
        longestBar: 0,
        bytes: 0,
    };
    summarise(block);
    block.bytes = memoryOf(block);
    return block;
}

function summarise(b: Block): void {
    for (let i = 0; i < b.count; i++) {
        const g = i >>> GROUP_SHIFT;
        const time = b.end[i]! - b.start[i]!;
        b.busy[g]! += time;
        b.anyFlags[g]! |= b.flags[i]!;
        if (time >= b.longestTime[g]!) {
            b.longestTime[g] = time;
            b.longest[g] = b.kind[i]!;
        }
        if (time > b.longestBar) b.longestBar = time;
    }
}

function columnsOf(b: Block): (Numbers | undefined)[] {
    const { start, end, kind, flags, name, op, wait, fade, parent, marks } = b;
    const bars = [start, end, kind, flags, name, op, wait, fade, parent, ...marks];
    return [...bars, b.busy, b.longest, b.longestTime, b.anyFlags];
}

function memoryOf(b: Block): number {
    return columnsOf(b).reduce((sum, column) => sum + (column?.byteLength ?? 0), 500);
}

/** The memory of a block, to be handed over to another thread without a copy. */
export function buffersOf(b: Block): ArrayBuffer[] {
    const buffers = new Set<ArrayBuffer>();
    for (const column of columnsOf(b)) if (column) buffers.add(column.buffer as ArrayBuffer);
    return [...buffers];
}

/** Columns of arguments, in the order of meta.kinds[].arguments. */
const ARGUMENTS = ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"];

export type ArgumentColumn = Numbers | BigUint64Array | undefined;

/** Columns of arguments, by their place. Only hover, details and search want them: they are decoded for those. */
export function argumentColumns(table: Table): ArgumentColumn[] {
    return ARGUMENTS.map((name) => (table.has(name) ? (table.wide(name) ?? table.need(name)) : undefined));
}

/** The argument of a bar; undefined: it has none. */
export function argumentAt(column: ArgumentColumn, index: number): number | bigint | undefined {
    const value = column?.[index];
    return value === NONE || value === NONE_WIDE || Number.isNaN(value) ? undefined : value;
}

/** The first bar of a block that ends after `time` (begins at or after it: see firstStart); `count` if none does. */
export function firstEndAfter(b: Block, time: number): number {
    let low = 0;
    let high = b.count;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (b.end[middle]! > time) high = middle;
        else low = middle + 1;
    }
    return low;
}

export function firstStartAt(b: Block, time: number): number {
    let low = 0;
    let high = b.count;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (b.start[middle]! >= time) high = middle;
        else low = middle + 1;
    }
    return low;
}
