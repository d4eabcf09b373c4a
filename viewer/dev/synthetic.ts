// Synthetic bundles of any size, for tests and measurements of the page. The real ones come from the C program.

import { BLOCK_BARS, ColumnCoding, EdgeKind, OVERVIEW_LANES } from "../src/data/layout";
import { assemble, column, encodeTable, Pieces, zstdInit, type SectionIn } from "./encode";
import { fillLane, type LaneBars } from "./lanes";
import { CHUNK_ROWS, encodeOps, OpTable } from "./operations";
import { encodePlaces, metaOf } from "./places";
import { DEFAULTS, Job, L, LANES, type Options } from "./shape";
import { StringTable } from "./strings";

/** The parts of a bundle, in order; the first `headParts` of them are what the first picture needs. */
export interface Made {
    parts: Uint8Array[];
    headParts: number;
}

export async function synthetic(given: Partial<Options> = {}): Promise<Made> {
    await zstdInit();
    const options = { ...DEFAULTS, ...given };
    const job = new Job(options);
    const strings = new StringTable();
    const ops = new OpTable(job);
    const lanes = options.ranks * LANES.length;
    const buckets = Math.min(4096, Math.max(64, 2 ** Math.floor(Math.log2((16 << 20) / lanes))));
    const counts = LANES.map((lane, i) => (i === L.Recvs ? Math.floor((job.slots + 0) / 8) : lane.perSlot * job.slots));
    const perRank = counts.reduce((a, b) => a + b, 0);
    const firstOf = (rank: number, lane: number) => rank * perRank + counts.slice(0, lane).reduce((a, b) => a + b, 0);

    const bars = new Pieces();
    const overview = new Pieces();
    const index = {
        lane: [] as number[],
        first: [] as number[],
        bars: [] as number[],
        from: [] as number[],
        to: [] as number[],
    };
    const busy = new Uint8Array(OVERVIEW_LANES * buckets);
    const kinds = new Uint8Array(OVERVIEW_LANES * buckets);
    const flags = new Uint8Array(OVERVIEW_LANES * buckets);
    const edges = new EdgeWriter();
    for (let lane = 0; lane < lanes; lane++) {
        const rank = Math.floor(lane / LANES.length);
        const which = lane % LANES.length;
        const filled = fillLane(job, strings, rank, which, counts[which]!, (slot, r) => ops.of(slot, r), firstOf);
        const first = firstOf(rank, which);
        for (let from = 0; from < filled.count; from += BLOCK_BARS) {
            const to = Math.min(filled.count, from + BLOCK_BARS);
            bars.add(encodeBlock(filled, from, to));
            index.lane.push(lane);
            index.first.push(first + from);
            index.bars.push(to - from);
            index.from.push(filled.start[from]!);
            index.to.push(filled.start[to - 1]! + filled.dur[to - 1]! + filled.fade[to - 1]!);
        }
        edges.addLane(filled, first, which, (to) => firstOf(rank, to), job.slots);
        fillOverview(filled, job.span / buckets, (lane % OVERVIEW_LANES) * buckets, buckets, busy, kinds, flags);
        if ((lane + 1) % OVERVIEW_LANES === 0 || lane + 1 === lanes) {
            const rows = ((lane % OVERVIEW_LANES) + 1) * buckets;
            overview.add(
                encodeTable(rows, [
                    column("busy", busy.slice(0, rows)),
                    column("kind", kinds.slice(0, rows)),
                    column("flags", flags.slice(0, rows)),
                ]),
            );
            for (const array of [busy, kinds, flags]) array.fill(0);
        }
    }
    const opSections = encodeOps(job, ops, strings, firstOf);
    const places = encodePlaces(job, strings, counts);
    const { ends, text } = strings.encode();
    const [edgeIndex, edgePieces] = edges.sections();
    const parts = assemble(job.span, buckets, [
        { name: "meta", raw: new TextEncoder().encode(JSON.stringify(metaOf(job))) },
        { name: "strings", raw: ends },
        { name: "strtext", raw: text },
        ...places,
        { name: "ops", raw: opSections.ops },
        {
            name: "blocks",
            raw: encodeTable(index.lane.length, [
                column("lane", Uint32Array.from(index.lane)),
                column("first", Uint32Array.from(index.first)),
                column("bars", Uint32Array.from(index.bars)),
                column("from", Float64Array.from(index.from)),
                column("to", Float64Array.from(index.to)),
                ...bars.columns(),
            ]),
        },
        { name: "overidx", raw: encodeTable(overview.count, overview.columns()) },
        { name: "partidx", raw: opSections.partIndex },
        edgeIndex,
        { name: "overview", pieces: overview },
        { name: "parts", pieces: opSections.parts },
        edgePieces,
        { name: "bars", pieces: bars },
    ]);
    return { parts, headParts: parts.length - opSections.parts.count - edgePieces.pieces!.count - bars.count };
}

function encodeBlock(lane: LaneBars, from: number, to: number): Uint8Array {
    const count = to - from;
    const base = lane.start[from]!;
    const start = new Float64Array(count);
    for (let i = 0; i < count; i++) start[i] = lane.start[from + i]! - base;
    // More than 4.29 s in one block: offsets as doubles.
    const narrow = start[count - 1]! < 2 ** 32;
    const delta = ColumnCoding.DeltaPlanes;
    const columns = [
        narrow ? column("start", Uint32Array.from(start), delta) : column("start", start),
        column("dur", lane.dur.slice(from, to)),
        column("kind", lane.kind.slice(from, to)),
        column("name", lane.name.slice(from, to)),
        column("op", lane.op.slice(from, to), delta),
        column("parent", lane.parent.slice(from, to), delta),
    ];
    const some = (values: Uint8Array | Uint32Array) => values.subarray(from, to).some((v) => v !== 0);
    if (some(lane.flags)) columns.push(column("flags", lane.flags.slice(from, to)));
    if (some(lane.wait)) columns.push(column("wait", lane.wait.slice(from, to)));
    if (some(lane.fade)) columns.push(column("fade", lane.fade.slice(from, to)));
    if (some(lane.m1))
        columns.push(
            column("m1", lane.m1.slice(from, to)),
            column("a1", lane.a1.slice(from, to)),
            column("a2", lane.a2.slice(from, to)),
            column("a3", lane.a3.slice(from, to)),
            column("a4", lane.a4.slice(from, to)),
            column("a5", lane.a5.slice(from, to), delta),
        );
    return encodeTable(count, columns);
}

function fillOverview(
    lane: LaneBars,
    width: number,
    base: number,
    buckets: number,
    busy: Uint8Array,
    kinds: Uint8Array,
    flags: Uint8Array,
): void {
    const time = new Float64Array(buckets);
    const most = new Float64Array(buckets);
    for (let i = 0; i < lane.count; i++) {
        const end = lane.start[i]! + lane.dur[i]!;
        for (let b = Math.floor(lane.start[i]! / width); b < buckets && b * width <= end; b++) {
            const here = Math.min(end, (b + 1) * width) - Math.max(lane.start[i]!, b * width);
            time[b]! += here;
            flags[base + b]! |= lane.flags[i]!;
            if (here >= most[b]!) {
                most[b] = here;
                kinds[base + b] = lane.kind[i]!;
            }
            busy[base + b] = Math.max(1, Math.min(255, Math.round((255 * time[b]!) / width)));
        }
    }
}

/**
 * Relations from parents to children, sorted by the parent: operations to channels and steps, launches to operations.
 */
class EdgeWriter {
    private from: number[] = [];
    private to: number[] = [];
    private kind: number[] = [];
    private readonly pieces = new Pieces();
    private readonly first: number[] = [];

    addLane(lane: LaneBars, first: number, which: number, firstOf: (lane: number) => number, slots: number): void {
        if (which === L.Launch)
            for (let slot = 0; slot < slots; slot++) this.add(first + slot, firstOf(L.Ops) + slot, EdgeKind.Launch);
        if (which !== L.Ops) return;
        for (let slot = 0; slot < slots && slot < lane.count; slot++) {
            for (const child of [L.Channel0, L.Channel1]) this.add(first + slot, firstOf(child) + slot);
            for (const child of [L.Steps0, L.Steps1])
                for (let i = 0; i < 4; i++) this.add(first + slot, firstOf(child) + slot * 4 + i);
        }
    }
    private add(from: number, to: number, kind = EdgeKind.Child): void {
        this.from.push(from);
        this.to.push(to);
        this.kind.push(kind);
        if (this.from.length === CHUNK_ROWS) this.flush();
    }
    private flush(): void {
        if (this.from.length === 0) return;
        this.first.push(this.from[0]!);
        const delta = ColumnCoding.DeltaPlanes;
        this.pieces.add(
            encodeTable(this.from.length, [
                column("from", Uint32Array.from(this.from), delta),
                column("to", Uint32Array.from(this.to), delta),
                column("kind", Uint8Array.from(this.kind)),
            ]),
        );
        this.from = [];
        this.to = [];
        this.kind = [];
    }
    sections(): [SectionIn, SectionIn] {
        this.flush();
        const index = encodeTable(this.pieces.count, [
            column("first", Float64Array.from(this.first)),
            ...this.pieces.columns(),
        ]);
        return [
            { name: "edgeidx", raw: index },
            { name: "edges", pieces: this.pieces },
        ];
    }
}
