// The tables of a bundle that are held in memory, and finding one's way in them.

import type { Numbers, Table } from "./columns";
import type { Meta } from "./meta";
import type { Source } from "./source";
import type { Strings } from "./strings";

/** The tree of places: host > process > rank > communicator. In the order of drawing: a child follows its parent. */
export interface Groups {
    count: number;
    parent: Numbers; // NONE: a root
    level: Numbers; // enum Level
    label: Numbers; // string
    /** Lanes of the group and of all below it are laneFrom[i] .. laneTo[i]. */
    laneFrom: Numbers;
    laneTo: Numbers;
    /** Error of its clock against the others in ns; NaN: not known, or not comparable. */
    error: Numbers;
}

export const enum Level {
    /** Above the hosts, where there are two runs. */
    Run = -1,
    Host = 0,
    Process = 1,
    Rank = 2,
    Comm = 3,
}

/** Rows of bars that do not overlap. What overlaps is on a further lane of the same kind, with the next `sub`. */
export interface Lanes {
    count: number;
    group: Numbers;
    kind: Numbers; // index into meta.rows
    sub: Numbers;
    label: Numbers; // string
    /** Number of its first bar in the whole bundle. Bars of a lane are numbered in order of time. */
    first: Float64Array;
    bars: Numbers;
    /** Its blocks are blockFrom[i] .. blockFrom[i + 1]. */
    blockFrom: Uint32Array;
}

export interface Ops {
    count: number;
    table: Table;
    id: BigUint64Array;
    comm: Numbers; // index into meta.comms
    func: Numbers; // string
    seq: Numbers; // -1: none
    bytes: Numbers; // NaN: not known
    /** Earliest start, latest start, latest end; ns, NaN: not known. By `first` in ascending order. */
    first: Numbers;
    last: Numbers;
    end: Numbers;
    /** Mean and longest wait of its ranks for the last one, and what came behind it. */
    wait: Numbers;
    longestWait: Numbers;
    transfer: Numbers;
    busbw: Numbers; // GB/s
    error: Numbers; // of comparing its starts, ns
    /** Its parts are part[i] .. part[i] + nparts[i]. */
    part: Numbers;
    nparts: Numbers;
    ranks: Numbers; // that are in it: fewer than parts where each sends and receives (fan-outs)
    lastPart: Numbers; // NONE: not known, or a tie
    lastRank: Numbers; // its rank in the job; -1: not known
    flags: Numbers; // OpFlag
    kind: Numbers; // OpKind
    src: Numbers; // root, or source of a pair; -1
    dst: Numbers;
}

export interface Members {
    count: number;
    comm: Numbers;
    rank: Numbers;
    globalRank: Numbers;
    group: Numbers; // of its rank, in Groups
}

/** Creation and destruction of communicators, and other moments: drawn as flags. */
export interface Flags {
    count: number;
    time: Numbers;
    group: Numbers;
    label: Numbers;
    kind: Numbers; // index into meta.kinds
}

export interface BlockIndex {
    count: number;
    lane: Numbers;
    first: Numbers; // number of its first bar
    bars: Numbers;
    from: Numbers; // ns: start of the first bar
    to: Numbers; // ns: latest end, with fading
    offset: Numbers; // in the section "bars"
    stored: Numbers;
    size: Numbers;
}

export interface Bundle {
    source: Source;
    meta: Meta;
    span: number; // ns: all bars lie in 0 .. span
    strings: Strings;
    groups: Groups;
    lanes: Lanes;
    ops: Ops;
    members: Members;
    flags: Flags;
    blocks: BlockIndex;
    barsAt: number;
    overview: { buckets: number; index: Table; at: number };
    parts: { index: Table; at: number };
    edges: { index: Table; at: number };
    bars: number;
}

/** The lane of a bar; bars are numbered lane by lane. */
export function laneOfBar(lanes: Lanes, bar: number): number {
    let low = 0;
    let high = lanes.count;
    while (high - low > 1) {
        const middle = (low + high) >>> 1;
        if (lanes.first[middle]! <= bar) low = middle;
        else high = middle;
    }
    return low;
}

/** The first block of a lane that reaches beyond a time; the one after its last, if none does. */
export function firstBlock({ lanes, blocks }: Bundle, lane: number, time: number): number {
    let low = lanes.blockFrom[lane]!;
    let high = lanes.blockFrom[lane + 1]!;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (blocks.to[middle]! <= time) low = middle + 1;
        else high = middle;
    }
    return low;
}
