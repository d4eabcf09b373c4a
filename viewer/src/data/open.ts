// Opening a bundle: header, directory, and the tables that are held in memory. Bars, parts and relations are not: they
// are read in pieces when they are looked at (blocks.ts, chunks.ts).

import type { BlockIndex, Bundle, Flags, Groups, Lanes, Members, Ops } from "./bundle";
import { checkBlocks, checkedBuckets, checkedSpan, checkPlaces, parseMeta } from "./check";
import { ascii, FormatError, Table } from "./columns";
import { Coding, DIRECTORY_ENTRY_BYTES, FEATURES_KNOWN, HEADER_BYTES, MAGIC } from "./layout";
import type { Source } from "./source";
import { Strings } from "./strings";
import { unzstd, zstdReady } from "./zstd";

interface Section {
    offset: number;
    stored: number;
    size: number;
    coding: Coding;
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
        lastRank: t.find("last_rank") ?? new Int32Array(t.rows).fill(-1),
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
