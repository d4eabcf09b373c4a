// A bundle and what is read from it on demand: the only interface of timeline and panels to the data.

import { Blocks } from "./blocks";
import { firstBlock, laneOfBar, type Bundle } from "./bundle";
import type { Decoder } from "./decoder";
import { Chunks, Edges, lowerBound, Parts, type Part } from "./chunks";
import { EdgeKind, NONE, OpFlag, OpKind } from "./layout";
import { openBundle } from "./open";
import { Overview } from "./overview";
import type { Source } from "./source";

/** One bar, with all that drawing and the panels need. */
export interface Bar {
    bar: number;
    lane: number;
    start: number;
    end: number;
    /** ns beyond the end within which it really ended; 0: the end is known. */
    fade: number;
    wait: number;
    kind: number;
    flags: number;
    name: number;
    op: number; // NONE: none
    parent: number; // bar; NONE: none
    marks: number[];
}

export interface Related {
    bar: Bar;
    parents: Bar[]; // the nearest first
    children: Bar[];
    launched: Bar[];
    parts: Part[]; // of the same operation, all ranks
    /** Bars from send to receive. */
    arrows: [Bar, Bar][];
}

/** Parents above parents: NCCL's go six deep, and a damaged file may go in circles. */
const MOST_PARENTS = 16;

/** Of findAt(): a block must be read first. */
export const NOT_HERE = -2;

export class Trace {
    readonly blocks: Blocks;
    readonly overview: Overview;
    readonly parts: Parts;
    readonly edges: Edges;

    constructor(
        readonly bundle: Bundle,
        decoder?: Decoder,
    ) {
        this.blocks = new Blocks(bundle, decoder);
        this.overview = new Overview(bundle);
        this.parts = new Parts(new Chunks(bundle.source, bundle.parts.index, bundle.parts.at));
        this.edges = new Edges(new Chunks(bundle.source, bundle.edges.index, bundle.edges.at));
    }

    static async open(source: Source, decoder?: Decoder): Promise<Trace> {
        return new Trace(await openBundle(source), decoder);
    }

    async bar(bar: number): Promise<Bar | undefined> {
        if (!(bar >= 0 && bar < this.bundle.bars)) return undefined;
        const block = this.blocks.blockOfBar(bar);
        await this.blocks.load(block);
        return this.barNow(bar);
    }

    /** The same, if its block is in memory. */
    barNow(bar: number): Bar | undefined {
        if (!(bar >= 0 && bar < this.bundle.bars)) return undefined;
        const block = this.blocks.peek(this.blocks.blockOfBar(bar));
        const i = block ? bar - block.first : 0;
        if (!block || i >= block.count) return undefined;
        return {
            bar,
            lane: laneOfBar(this.bundle.lanes, bar),
            start: block.start[i]!,
            end: block.end[i]!,
            fade: block.fade?.[i] ?? 0,
            wait: block.wait?.[i] ?? 0,
            kind: block.kind[i]!,
            flags: block.flags[i]!,
            name: block.name[i]!,
            op: block.op[i]! > 0 ? block.op[i]! - 1 : NONE,
            parent: block.parent && block.parent[i]! > 0 ? block.parent[i]! - 1 : NONE,
            marks: block.marks.map((column) => column[i]!),
        };
    }

    /** What is written on a bar. */
    nameOf(bar: { name: number; kind: number }): string {
        return this.bundle.strings.get(bar.name) || (this.bundle.meta.kinds[bar.kind]?.label ?? "?");
    }

    opName(op: number): string {
        const { ops, strings, meta } = this.bundle;
        const seq = ops.seq[op]!;
        const comm = meta.comms[ops.comm[op]!];
        return `${strings.get(ops.func[op]!)}${seq >= 0 ? ` ${seq}` : ""} of ${comm?.name || comm?.comm || "?"}`;
    }

    async related(bar: Bar): Promise<Related> {
        const result: Related = { bar, parents: [], children: [], launched: [], parts: [], arrows: [] };
        for (let up = bar.parent; up !== NONE && result.parents.length < MOST_PARENTS; ) {
            const parent = await this.bar(up);
            if (!parent) break;
            result.parents.push(parent);
            up = parent.parent;
        }
        for (const edge of await this.edges.leaving(bar.bar)) {
            const other = await this.bar(edge.to);
            if (!other) continue;
            if (edge.kind === EdgeKind.Child) result.children.push(other);
            else if (edge.kind === EdgeKind.Launch) result.launched.push(other);
            else if (edge.kind === EdgeKind.SendRecv) result.arrows.push([bar, other]);
        }
        if (bar.op !== NONE && bar.op < this.bundle.ops.count) {
            result.parts = await this.partsOf(bar.op);
            if (result.arrows.length === 0) result.arrows = await this.arrowsOf(bar.op, result.parts);
        }
        return result;
    }

    partsOf(op: number): Promise<Part[]> {
        const { part, nparts } = this.bundle.ops;
        return this.parts.list(part[op]!, part[op]! + nparts[op]!);
    }

    /** A pair is a send and its receive: the arrow goes from the rank `src` to `dst`. */
    private async arrowsOf(op: number, parts: Part[]): Promise<[Bar, Bar][]> {
        const { ops, members } = this.bundle;
        if (ops.kind[op] !== OpKind.Pair) return [];
        const at = (rank: number) => parts.find((p) => members.rank[p.member] === rank && p.bar !== NONE);
        const [send, receive] = [at(ops.src[op]!), at(ops.dst[op]!)];
        if (!send || !receive || send === receive) return [];
        const [a, b] = [await this.bar(send.bar), await this.bar(receive.bar)];
        return a && b ? [[a, b]] : [];
    }

    /** How many operations there are, of all or of some: what is inside a fan-out does not count beside it. */
    countOf(list?: ArrayLike<number>): number {
        const { count, flags } = this.bundle.ops;
        let n = 0;
        for (let i = 0; i < (list?.length ?? count); i++) if (!(flags[list ? list[i]! : i]! & OpFlag.Inside)) n++;
        return n;
    }

    /** The least significant wait in an operation, ns: twice the clock error, as in `ringscope ops`. 0: any. */
    leastWait(op: number): number {
        const error = this.bundle.ops.error[op]!;
        return error > 0 ? 2 * error : 0;
    }

    /** A wait in an operation; 0 where it is below the clock error. NaN: unknown. */
    knownWait(op: number, wait: number): number {
        return wait < this.leastWait(op) ? 0 : wait;
    }

    /** Operations that begin in a window, as a range of indexes. They are sorted by their first start. */
    opsFrom(t0: number, t1: number): [number, number] {
        const { first } = this.bundle.ops;
        return [lowerBound(first, t0), lowerBound(first, t1)];
    }

    /** The bar of a lane at a time, `slack` ns around it allowed; the block must be in memory or it is asked for. */
    async barAt(lane: number, time: number, slack: number): Promise<Bar | undefined> {
        const found = this.barAtNow(lane, time, slack);
        if (found !== "not here") return found;
        const { lanes, blocks } = this.bundle;
        const last = lanes.blockFrom[lane + 1]!;
        const begin = firstBlock(this.bundle, lane, time - slack - 1);
        for (let id = begin; id < last && blocks.from[id]! <= time + slack; id++) await this.blocks.load(id);
        const again = this.barAtNow(lane, time, slack);
        return again === "not here" ? undefined : again;
    }

    barAtNow(lane: number, time: number, slack: number): Bar | undefined | "not here" {
        const bar = this.findAt(lane, time, slack);
        if (bar >= 0) return this.barNow(bar);
        return bar === NOT_HERE ? "not here" : undefined;
    }

    /** The number of that bar; -1: none; NOT_HERE: not known, its block is not in memory. Nothing is allocated. */
    findAt(lane: number, time: number, slack: number): number {
        const { lanes, blocks } = this.bundle;
        let best = -1;
        let nearest = Infinity;
        let missing = false;
        const last = lanes.blockFrom[lane + 1]!;
        const begin = firstBlock(this.bundle, lane, time - slack - 1);
        for (let id = begin; id < last && blocks.from[id]! <= time + slack; id++) {
            const block = this.blocks.peek(id);
            if (!block) {
                missing = true;
                continue;
            }
            // The bar that covers the time, or the nearest of its two neighbours.
            let i = lowerBound(block.start, time);
            for (i = Math.max(0, i - 1); i < block.count && block.start[i]! <= time + slack; i++) {
                const end = block.end[i]! + (block.fade ? block.fade[i]! : 0);
                const distance = Math.max(block.start[i]! - time, time - end, 0);
                if (distance <= slack && distance < nearest) {
                    nearest = distance;
                    best = block.first + i;
                }
                if (block.start[i]! > time) break;
            }
        }
        return best < 0 && missing ? NOT_HERE : best;
    }
}
