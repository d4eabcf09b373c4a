// Synthetic bundles of any size, for tests and measurements of the page. The real ones come from the C program.

import { BLOCK_BARS, ColumnCoding, EdgeKind, NONE, OpFlag, OpKind, OVERVIEW_LANES } from "../src/data/layout";
import type { Meta } from "../src/data/meta";
import { assemble, encodeTable, Pieces, zstdInit, type ColumnIn, type SectionIn } from "./encode";
import { fillLane, type LaneBars } from "./lanes";
import { DEFAULTS, Job, K, KINDS, L, LANES, ROWS, SlotKind, slotKind, type Options } from "./shape";

const CHUNK_ROWS = 65536;

/** Strings are numbered as they come; 0 is "". */
export class StringTable {
    private readonly ids = new Map<string, number>([["", 0]]);
    id(text: string): number {
        let id = this.ids.get(text);
        if (id === undefined) this.ids.set(text, (id = this.ids.size));
        return id;
    }
    encode(): { ends: Uint8Array; text: Uint8Array } {
        const texts = [...this.ids.keys()].map((text) => new TextEncoder().encode(text));
        let at = 0;
        const ends = Uint32Array.from(texts, (text) => (at += text.length));
        const text = new Uint8Array(at);
        texts.forEach((bytes, i) => text.set(bytes, ends[i]! - bytes.length));
        return { ends: encodeTable(texts.length, [{ name: "end", values: ends, coding: ColumnCoding.DeltaPlanes }]), text };
    }
}

interface Op {
    slot: number;
    from: number; // its first rank
    first: number;
}

/** Operations by their first start, and the number of each by slot and rank. */
class OpTable {
    readonly list: Op[] = [];
    private readonly ids = new Map<number, number>();
    constructor(readonly job: Job) {
        const { ranks } = job.options;
        for (let slot = 0; slot < job.slots; slot++) {
            const step = slotKind(slot) === SlotKind.AllReduce ? ranks : slotKind(slot) === SlotKind.AllGather ? job.perHost : 1;
            for (let from = 0; from < ranks; from += step) {
                let first = Infinity;
                for (const rank of this.ranksOf(slot, from)) first = Math.min(first, job.arrival(slot, rank));
                this.list.push({ slot, from, first });
            }
        }
        this.list.sort((a, b) => a.first - b.first);
        this.list.forEach((op, i) => this.ids.set(op.slot * ranks + op.from, i));
    }
    ranksOf(slot: number, from: number): number[] {
        const { ranks } = this.job.options;
        if (slotKind(slot) === SlotKind.Ring) return ranks > 1 ? [from, (from + 1) % ranks] : [from];
        const [low, high] = this.job.partners(slot, from);
        return Array.from({ length: high - low }, (_, i) => low + i);
    }
    /** The operation in which a rank is in a slot; of a ring: in which it sends. */
    of(slot: number, rank: number): number {
        const from = slotKind(slot) === SlotKind.Ring ? rank : this.job.partners(slot, rank)[0];
        return this.ids.get(slot * this.job.options.ranks + from)!;
    }
}

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
    const index = { lane: [] as number[], first: [] as number[], bars: [] as number[], from: [] as number[], to: [] as number[] };
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
            overview.add(encodeTable(rows, [column("busy", busy.slice(0, rows)), column("kind", kinds.slice(0, rows)), column("flags", flags.slice(0, rows))]));
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
        { name: "blocks", raw: encodeTable(index.lane.length, [
            column("lane", Uint32Array.from(index.lane)),
            column("first", Uint32Array.from(index.first)),
            column("bars", Uint32Array.from(index.bars)),
            column("from", Float64Array.from(index.from)),
            column("to", Float64Array.from(index.to)),
            ...bars.columns(),
        ]) },
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

function column(name: string, values: ColumnIn["values"], coding?: ColumnCoding): ColumnIn {
    return { name, values, coding };
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
    if (some(lane.m1)) columns.push(column("m1", lane.m1.slice(from, to)), column("peer", lane.peer.slice(from, to)), column("bytes", lane.bytes.slice(from, to)));
    return encodeTable(count, columns);
}

function fillOverview(lane: LaneBars, width: number, base: number, buckets: number, busy: Uint8Array, kinds: Uint8Array, flags: Uint8Array): void {
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

/** Relations from parents to children, sorted by the parent: operations to channels and steps, launches to operations. */
class EdgeWriter {
    private from: number[] = [];
    private to: number[] = [];
    private kind: number[] = [];
    private readonly pieces = new Pieces();
    private readonly first: number[] = [];

    addLane(lane: LaneBars, first: number, which: number, firstOf: (lane: number) => number, slots: number): void {
        if (which === L.Launch) for (let slot = 0; slot < slots; slot++) this.add(first + slot, firstOf(L.Ops) + slot, EdgeKind.Launch);
        if (which !== L.Ops) return;
        for (let slot = 0; slot < slots && slot < lane.count; slot++) {
            for (const child of [L.Channel0, L.Channel1]) this.add(first + slot, firstOf(child) + slot);
            for (const child of [L.Steps0, L.Steps1]) for (let i = 0; i < 4; i++) this.add(first + slot, firstOf(child) + slot * 4 + i);
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
        this.pieces.add(encodeTable(this.from.length, [
            column("from", Uint32Array.from(this.from), delta),
            column("to", Uint32Array.from(this.to), delta),
            column("kind", Uint8Array.from(this.kind)),
        ]));
        this.from = [];
        this.to = [];
        this.kind = [];
    }
    sections(): [SectionIn, SectionIn] {
        this.flush();
        const index = encodeTable(this.pieces.count, [column("first", Float64Array.from(this.first)), ...this.pieces.columns()]);
        return [{ name: "edgeidx", raw: index }, { name: "edges", pieces: this.pieces }];
    }
}

function encodeOps(job: Job, ops: OpTable, strings: StringTable, firstOf: (rank: number, lane: number) => number): { ops: Uint8Array; partIndex: Uint8Array; parts: Pieces } {
    const n = ops.list.length;
    const { ranks } = job.options;
    const f64 = () => new Float64Array(n);
    const c = { id: new BigUint64Array(n), comm: new Uint16Array(n), func: new Uint32Array(n), seq: new Int32Array(n), bytes: f64(), first: f64(), last: f64(), end: f64(), wait: f64(), transfer: f64(), busbw: new Float32Array(n), error: new Float32Array(n), part: new Uint32Array(n), nparts: new Uint32Array(n), last_part: new Uint32Array(n).fill(NONE), flags: new Uint8Array(n), kind: new Uint8Array(n), src: new Int32Array(n).fill(-1), dst: new Int32Array(n).fill(-1) };
    const member: number[] = [], bar: number[] = [], start: number[] = [], end: number[] = [], wait: number[] = [];
    ops.list.forEach((op, i) => {
        const kind = slotKind(op.slot);
        const list = ops.ranksOf(op.slot, op.from);
        const times = list.map((rank) => job.arrival(op.slot, rank));
        const last = Math.max(...times);
        const done = last + job.transfer(op.slot);
        const perHost = kind === SlotKind.AllGather;
        c.id[i] = BigInt(op.slot) * 0x9e3779b97f4an + BigInt(op.from);
        c.comm[i] = perHost ? 1 + Math.floor(op.from / job.perHost) : 0;
        c.func[i] = strings.id(kind === SlotKind.Ring ? "SendRecv" : perHost ? "AllGather" : "AllReduce");
        c.seq[i] = op.slot;
        c.bytes[i] = 25 * 2 ** 20;
        [c.first[i], c.last[i], c.end[i]] = [op.first, last, done];
        c.wait[i] = times.reduce((sum, t) => sum + last - t, 0) / times.length;
        c.transfer[i] = done - last;
        c.busbw[i] = (25 * 2 ** 20 * 1.75) / (done - last);
        c.error[i] = 8700;
        c.part[i] = member.length;
        c.nparts[i] = list.length;
        c.kind[i] = kind === SlotKind.Ring ? OpKind.Pair : OpKind.Collective;
        const sorted = [...times].sort((a, b) => b - a);
        const tie = sorted.length > 1 && sorted[0]! - sorted[1]! < 2 * 8700;
        c.flags[i] = OpFlag.Complete | OpFlag.Whole | OpFlag.Clocked | (tie ? OpFlag.Tie : 0);
        if (!tie) c.last_part[i] = member.length + times.indexOf(last);
        if (kind === SlotKind.Ring) [c.src[i], c.dst[i]] = [list[0]!, list[list.length - 1]!];
        list.forEach((rank, k) => {
            const receives = kind === SlotKind.Ring && k === 1;
            member.push(perHost ? ranks + rank : rank);
            bar.push(receives ? firstOf(rank, L.Recvs) + Math.floor(op.slot / 8) : firstOf(rank, L.Ops) + op.slot);
            start.push(times[k]!);
            end.push(done);
            wait.push(last - times[k]!);
        });
    });
    const parts = new Pieces();
    const firsts: number[] = [];
    for (let from = 0; from < member.length; from += CHUNK_ROWS) {
        const cut = <T>(a: T[]) => a.slice(from, from + CHUNK_ROWS);
        firsts.push(from);
        parts.add(encodeTable(cut(member).length, [column("member", Uint32Array.from(cut(member))), column("bar", Uint32Array.from(cut(bar))), column("start", Float64Array.from(cut(start))), column("end", Float64Array.from(cut(end))), column("wait", Float32Array.from(cut(wait)))]));
    }
    return {
        ops: encodeTable(n, Object.entries(c).map(([name, values]) => column(name, values))),
        partIndex: encodeTable(parts.count, [column("first", Float64Array.from(firsts)), ...parts.columns()]),
        parts,
    };
}

function encodePlaces(job: Job, strings: StringTable, counts: number[]): { name: string; raw: Uint8Array }[] {
    const { ranks } = job.options;
    const g = { parent: [] as number[], level: [] as number[], label: [] as number[], lane_from: [] as number[], lane_to: [] as number[], error: [] as number[] };
    const lane = { group: [] as number[], kind: [] as number[], sub: [] as number[], label: [] as number[], bars: [] as number[] };
    const rankGroup: number[] = [];
    const group = (parent: number, level: number, label: string, from: number, to: number): number => {
        g.parent.push(parent), g.level.push(level), g.label.push(strings.id(label));
        g.lane_from.push(from), g.lane_to.push(to), g.error.push(8700);
        return g.parent.length - 1;
    };
    for (let first = 0, host = 0; first < ranks; first += job.perHost, host++) {
        const after = Math.min(ranks, first + job.perHost);
        const hostGroup = group(NONE, 0, `host${String(host).padStart(2, "0")}`, first * LANES.length, after * LANES.length);
        for (let rank = first; rank < after; rank++) {
            const [from, to] = [rank * LANES.length, (rank + 1) * LANES.length];
            const process = group(hostGroup, 1, `pid ${7000 + rank}`, from, to);
            const gpu = group(process, 2, `rank ${rank} GPU ${rank - first}`, from, to);
            const comm = group(gpu, 3, "default_pg", from + 1, to);
            rankGroup.push(gpu);
            LANES.forEach((l, i) => {
                lane.group.push(l.comm < 0 ? gpu : comm), lane.kind.push(l.row), lane.sub.push(l.sub);
                lane.label.push(strings.id(ROWS[l.row]!.label + (l.sub ? ` ${l.sub + 1}` : ""))), lane.bars.push(counts[i]!);
            });
        }
    }
    const all = Array.from({ length: ranks }, (_, rank) => rank);
    const u32 = (values: number[]) => Uint32Array.from(values);
    return [
        { name: "groups", raw: encodeTable(g.parent.length, [column("parent", u32(g.parent)), column("level", Uint8Array.from(g.level)), column("label", u32(g.label)), column("lane_from", u32(g.lane_from)), column("lane_to", u32(g.lane_to)), column("error", Float32Array.from(g.error))]) },
        { name: "lanes", raw: encodeTable(lane.group.length, [column("group", u32(lane.group)), column("kind", Uint8Array.from(lane.kind)), column("sub", Uint8Array.from(lane.sub)), column("label", u32(lane.label)), column("bars", u32(lane.bars))]) },
        { name: "members", raw: encodeTable(2 * ranks, [column("comm", Uint32Array.from([...all.map(() => 0), ...all.map((r) => 1 + Math.floor(r / job.perHost))])), column("rank", Int32Array.from([...all, ...all.map((r) => r % job.perHost)])), column("global", Int32Array.from([...all, ...all])), column("group", u32([...rankGroup, ...rankGroup]))]) },
        { name: "flags", raw: encodeTable(ranks, [column("time", Float64Array.from(all, (r) => 100_000 + r * 5_000)), column("group", u32(rankGroup)), column("label", u32(all.map(() => strings.id("default_pg created")))), column("kind", Uint8Array.from(all, () => K.Created))]) },
    ];
}

function metaOf(job: Job): Meta {
    const { ranks, slowRank } = job.options;
    const hostOf = (rank: number) => `host${String(Math.floor(rank / job.perHost)).padStart(2, "0")}`;
    const person = (rank: number, local: number) => ({ rank: local, global_rank: rank, host: hostOf(rank), pid: 7000 + rank, device: rank % job.perHost });
    const all = Array.from({ length: ranks }, (_, rank) => rank);
    const hosts = Math.ceil(ranks / job.perHost);
    return {
        title: `synthetic: ${ranks} ranks, ${job.slots} slots`,
        begin_ns: "1795331372000000000",
        focus_ns: [0, job.span],
        kinds: KINDS,
        rows: ROWS,
        arguments: { peer: { label: "peer" }, bytes: { label: "bytes", unit: "bytes" } },
        comms: [
            { comm: "0xe7c915ef00000000", name: "default_pg", nranks: ranks, nnodes: hosts, parent: null, created_ns: 0, destroyed_ns: null, members: all.map((r) => person(r, r)) },
            ...Array.from({ length: hosts }, (_, h) => ({ comm: `0xa100000${h}`, name: `host_pg:${h}`, nranks: job.perHost, nnodes: 1, parent: { comm: "0xe7c915ef00000000", count: h, color: h }, created_ns: 0, destroyed_ns: null, members: all.filter((r) => Math.floor(r / job.perHost) === h).map((r, i) => person(r, i)) })),
        ],
        clocks: all.map((rank) => ({ host: hostOf(rank), pid: 7000 + rank, device: rank % job.perHost, ranks: [rank], error_ns: 8700, method: "ends" })),
        report: {
            stragglers: [{ scope: "rank", rank: slowRank, host: hostOf(slowRank), device: slowRank % job.perHost, times_last: job.slots, cost_ns: job.slots * job.options.lateNs, inherited_ns: null, gpu_time_lost_ns: null, why: "queued behind compute" }],
            network: all.map((rank) => ({ rank, peer: (rank + 1) % ranks, gpu_ns: 1e6, credit_ns: 2e5, net_ns: 3e6, flush_ns: 0, consume_ns: 0, bytes: job.slots * 25 * 2 ** 20, messages: job.slots * 8 })),
            conclusion: [`Rank ${slowRank} (${hostOf(slowRank)}) was last in most operations; it was queued behind its own compute.`],
        },
        notes: ["Synthetic data: nothing here was measured."],
    };
}

