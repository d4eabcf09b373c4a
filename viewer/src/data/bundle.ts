// Opening a bundle: header, directory, and the tables that are held in memory. Bars, parts and relations are not: they
// are read in pieces when they are looked at (blocks.ts, chunks.ts).

import { ascii, FormatError, Table, type Numbers } from "./columns";
import { checkBlocks, checkedBuckets, checkedSpan, checkPlaces, parseMeta } from "./check";
import { Coding, DIRECTORY_ENTRY_BYTES, FEATURES_KNOWN, HEADER_BYTES, MAGIC } from "./layout";
import type { Meta } from "./meta";
import type { Source } from "./source";
import { Strings } from "./strings";
import { unzstd, zstdReady } from "./zstd";

export interface Section {
    offset: number;
    stored: number;
    size: number;
    coding: Coding;
}

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

export async function openBundle(source: Source): Promise<Bundle> {
    const [header] = await Promise.all([source.bytes(0, HEADER_BYTES), zstdReady()]);
    const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
    if (String.fromCharCode(...header.subarray(0, 8)) !== MAGIC)
        throw new FormatError("this is not a ringscope view bundle");
    if ((view.getUint32(12, true) & ~FEATURES_KNOWN) >>> 16)
        throw new FormatError("the bundle was made by a newer ringscope, and this page cannot read it");
    const entries = view.getUint32(24, true);
    if (entries > 256) throw new FormatError(`a directory of ${entries} entries`);
    const directory = await source.bytes(big(view, 16), entries * DIRECTORY_ENTRY_BYTES);
    const sections = readDirectory(directory, entries);
    const read = (name: string) => readSection(source, sections, name);
    // All at once: over HTTP these are a dozen round trips in one.
    const [metaBytes, ends, text, groups, lanes, ops, members, flags, blocks, overIndex, partIndex, edgeIndex] =
        await Promise.all([
            read("meta"),
            read("strings"),
            read("strtext"),
            read("groups"),
            read("lanes"),
            read("ops"),
            read("members"),
            read("flags"),
            read("blocks"),
            read("overidx"),
            read("partidx"),
            read("edgeidx"),
        ]);
    const meta = parseMeta(new TextDecoder().decode(metaBytes));
    const index = blockIndex(new Table(blocks));
    const laneTable = lanesOf(new Table(lanes), index);
    const groupTable = groupsOf(new Table(groups));
    const memberTable = membersOf(new Table(members));
    checkPlaces(groupTable, laneTable, memberTable, meta);
    checkBlocks(laneTable, index);
    const last = laneTable.count - 1;
    return {
        source,
        meta,
        span: checkedSpan(view.getFloat64(32, true)),
        strings: new Strings(new Table(ends).need("end"), text),
        groups: groupTable,
        lanes: laneTable,
        ops: opsOf(new Table(ops)),
        members: memberTable,
        flags: flagsOf(new Table(flags)),
        blocks: index,
        barsAt: sections.get("bars")?.offset ?? 0,
        overview: {
            buckets: checkedBuckets(view.getUint32(40, true)),
            index: new Table(overIndex),
            at: sections.get("overview")?.offset ?? 0,
        },
        parts: { index: new Table(partIndex), at: sections.get("parts")?.offset ?? 0 },
        edges: { index: new Table(edgeIndex), at: sections.get("edges")?.offset ?? 0 },
        bars: last < 0 ? 0 : laneTable.first[last]! + laneTable.bars[last]!,
    };
}

function big(view: DataView, at: number): number {
    return Number(view.getBigUint64(at, true));
}

function readDirectory(bytes: Uint8Array, entries: number): Map<string, Section> {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const sections = new Map<string, Section>();
    for (let i = 0; i < entries; i++) {
        const at = i * DIRECTORY_ENTRY_BYTES;
        sections.set(ascii(bytes.subarray(at, at + 8)), {
            offset: big(view, at + 8),
            stored: big(view, at + 16),
            size: big(view, at + 24),
            coding: view.getUint32(at + 32, true),
        });
    }
    return sections;
}

async function readSection(source: Source, sections: Map<string, Section>, name: string): Promise<Uint8Array> {
    const section = sections.get(name);
    if (!section) {
        if (name === "meta") throw new FormatError("the bundle has no meta section");
        return new Uint8Array(8); // an empty table
    }
    const stored = await source.bytes(section.offset, section.stored);
    return section.coding === Coding.Zstd ? unzstd(stored, section.size) : stored;
}

function groupsOf(t: Table): Groups {
    return {
        count: t.rows,
        parent: t.need("parent"),
        level: t.need("level"),
        label: t.need("label"),
        laneFrom: t.need("lane_from"),
        laneTo: t.need("lane_to"),
        error: t.find("error") ?? new Float32Array(t.rows).fill(NaN),
    };
}

function blockIndex(t: Table): BlockIndex {
    return {
        count: t.rows,
        lane: t.need("lane"),
        first: t.need("first"),
        bars: t.need("bars"),
        from: t.need("from"),
        to: t.need("to"),
        offset: t.need("offset"),
        stored: t.need("stored"),
        size: t.need("size"),
    };
}

function lanesOf(t: Table, blocks: BlockIndex): Lanes {
    const bars = t.need("bars");
    const first = new Float64Array(t.rows);
    for (let i = 1; i < t.rows; i++) first[i] = first[i - 1]! + bars[i - 1]!;
    const blockFrom = new Uint32Array(t.rows + 1);
    for (let b = 0; b < blocks.count; b++) {
        const lane = blocks.lane[b]!;
        if (lane >= t.rows || (b > 0 && lane < blocks.lane[b - 1]!))
            throw new FormatError("blocks are not in the order of lanes");
        blockFrom[lane + 1]!++;
    }
    for (let i = 0; i < t.rows; i++) blockFrom[i + 1]! += blockFrom[i]!;
    return {
        count: t.rows,
        group: t.need("group"),
        kind: t.need("kind"),
        sub: t.find("sub") ?? new Uint8Array(t.rows),
        label: t.need("label"),
        first,
        bars,
        blockFrom,
    };
}

function opsOf(t: Table): Ops {
    const unknown = () => new Float32Array(t.rows).fill(NaN);
    return {
        count: t.rows,
        table: t,
        id: t.wide("id") ?? new BigUint64Array(t.rows),
        comm: t.need("comm"),
        func: t.need("func"),
        seq: t.need("seq"),
        bytes: t.need("bytes"),
        first: t.need("first"),
        last: t.need("last"),
        end: t.need("end"),
        wait: t.find("wait") ?? unknown(),
        longestWait: t.find("longest_wait") ?? unknown(),
        transfer: t.find("transfer") ?? unknown(),
        busbw: t.find("busbw") ?? unknown(),
        error: t.find("error") ?? unknown(),
        part: t.need("part"),
        nparts: t.need("nparts"),
        ranks: t.find("ranks") ?? t.need("nparts"),
        lastPart: t.need("last_part"),
        flags: t.need("flags"),
        kind: t.need("kind"),
        src: t.find("src") ?? new Int32Array(t.rows).fill(-1),
        dst: t.find("dst") ?? new Int32Array(t.rows).fill(-1),
    };
}

function membersOf(t: Table): Members {
    return {
        count: t.rows,
        comm: t.need("comm"),
        rank: t.need("rank"),
        globalRank: t.need("global"),
        group: t.need("group"),
    };
}

function flagsOf(t: Table): Flags {
    return {
        count: t.rows,
        time: t.need("time"),
        group: t.need("group"),
        label: t.need("label"),
        kind: t.need("kind"),
    };
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
