// The blocks that are in memory. Drawing asks for what it needs and takes what is there; the rest is queued and decoded
// in a worker, or between frames a few milliseconds at a time, so that no frame waits for data. Old blocks go when
// memory is short.

import { argumentAt, argumentColumns, type Block } from "./block";
import type { Bundle } from "./bundle";
import { laneOfBar } from "./bundle";
import { Table } from "./columns";
import { decodeHere, Decoder, type Job } from "./decoder";
import { unzstd } from "./zstd";

/** 10 M bars need about 300 MB when all are looked at; a page of less than 1 GB has room for that. */
const MEMORY = 384 << 20;
/** Requests over HTTP at one time: browsers allow six to a server. */
const IN_FLIGHT = 6;
/** Given to the worker at one time: enough to keep it busy, few enough that it soon turns to the current view. */
const WITH_WORKER = 4;

export class Blocks {
    /** Called when blocks have come: something can be drawn better now. */
    onArrival: () => void = () => {};
    /** Called when a block could not be read. */
    onError: (error: Error) => void = () => {};
    used = 0;
    private readonly held: (Block | undefined)[];
    private readonly lastUse: Uint32Array;
    private readonly asked: Uint8Array; // 1: in the queue or on its way; 2: failed, never asked again
    private queue: number[] = [];
    private readonly coming = new Map<number, Promise<Block>>();
    private clock = 1;
    private onTheWay = 0;
    private latest: { id: number; table: Table } | undefined; // of the last bar whose arguments were asked for

    constructor(
        private readonly bundle: Bundle,
        private readonly decoder = new Decoder(),
        private readonly memory = MEMORY,
    ) {
        this.held = new Array<Block | undefined>(bundle.blocks.count);
        this.lastUse = new Uint32Array(bundle.blocks.count);
        this.asked = new Uint8Array(bundle.blocks.count);
    }

    /** A new frame: what earlier frames asked for and did not get is not wanted any more. */
    beginFrame(): void {
        this.clock++;
        for (const id of this.queue) this.asked[id] = 0;
        this.queue.length = 0;
    }

    /** The block if it is there; else undefined, and it will come. */
    get(id: number): Block | undefined {
        const block = this.held[id];
        if (block) {
            this.lastUse[id] = this.clock;
            return block;
        }
        if (this.asked[id] === 0) {
            this.asked[id] = 1;
            this.queue.push(id);
        }
        return undefined;
    }

    /** Whether it is there, without asking for it. */
    peek(id: number): Block | undefined {
        return this.held[id];
    }

    get waiting(): number {
        return this.queue.length + this.onTheWay;
    }

    /**
     * Sees to what is queued: hands it on, or without a worker decodes it until `deadline` (performance.now()), one
     * block at least. Says whether anything came at once.
     */
    work(deadline: number): boolean {
        let came = false;
        for (let first = true; this.queue.length > 0 && (first || performance.now() < deadline); first = false) {
            const id = this.queue.shift()!;
            try {
                const { offset, stored } = this.place(id);
                const bytes = this.bundle.source.now(offset, stored);
                const most = bytes ? WITH_WORKER : IN_FLIGHT;
                if (bytes && !this.decoder.hasWorker) {
                    this.keep(id, decodeHere(this.job(id, bytes)));
                    came = true;
                } else if (this.onTheWay < most) this.request(id);
                else {
                    this.queue.unshift(id);
                    break;
                }
            } catch (error) {
                this.fail(id, error);
            }
        }
        return came;
    }

    /** A block for sure, for details and jumps. */
    load(id: number): Promise<Block> {
        const there = this.held[id];
        if (there) return Promise.resolve(there);
        let promise = this.coming.get(id);
        if (!promise) {
            promise = this.fetch(id).finally(() => this.coming.delete(id));
            this.coming.set(id, promise);
        }
        return promise;
    }

    private async fetch(id: number): Promise<Block> {
        const { offset, stored } = this.place(id);
        const bytes = await this.bundle.source.bytes(offset, stored);
        const block = await this.decoder.decode(this.job(id, bytes));
        return this.held[id] ?? this.keep(id, block);
    }

    /** The block that holds a bar. */
    blockOfBar(bar: number): number {
        const { lanes, blocks } = this.bundle;
        const lane = laneOfBar(lanes, bar);
        let low = lanes.blockFrom[lane]!;
        let high = lanes.blockFrom[lane + 1]!;
        while (high - low > 1) {
            const middle = (low + high) >>> 1;
            if (blocks.first[middle]! <= bar) low = middle;
            else high = middle;
        }
        return low;
    }

    /** Arguments of a bar, in the order of meta.kinds[].arguments; undefined: it has none. */
    async further(bar: number): Promise<(number | bigint | undefined)[]> {
        const id = this.blockOfBar(bar);
        if (this.latest?.id !== id) this.latest = { id, table: await this.tableOf(id) };
        const { blocks, meta } = this.bundle;
        const [table, index] = [this.latest.table, bar - blocks.first[id]!];
        const start = blocks.from[id]! + table.need("start")[index]!;
        const kind = meta.kinds[table.find("kind")?.[index] ?? 0];
        // Times are stored as what they are after the start of their bar.
        return argumentColumns(table).map((column, i) => {
            const value = argumentAt(column, index);
            return kind?.arguments?.[i]?.unit === "time" && value !== undefined ? start + Number(value) : value;
        });
    }

    /** A block with all its columns, not kept: what drawing does not need is read when someone asks. */
    async tableOf(id: number): Promise<Table> {
        const { offset, stored, size } = this.place(id);
        return new Table(unzstd(await this.bundle.source.bytes(offset, stored), size));
    }

    private place(id: number): { offset: number; stored: number; size: number } {
        const { blocks, barsAt } = this.bundle;
        return { offset: barsAt + blocks.offset[id]!, stored: blocks.stored[id]!, size: blocks.size[id]! };
    }

    private job(id: number, bytes: Uint8Array): Job {
        const { blocks } = this.bundle;
        const { size } = this.place(id);
        return { id, bytes, size, first: blocks.first[id]!, count: blocks.bars[id]!, from: blocks.from[id]! };
    }

    private keep(id: number, block: Block): Block {
        this.held[id] = block;
        this.lastUse[id] = this.clock;
        this.asked[id] = 0;
        this.used += block.bytes;
        if (this.used > this.memory) this.makeRoom();
        return block;
    }

    /** Drops the half that was not used for longest, but nothing of this frame. */
    private makeRoom(): void {
        const ids = [...this.held.keys()].filter((id) => this.held[id] && this.lastUse[id]! < this.clock);
        ids.sort((a, b) => this.lastUse[a]! - this.lastUse[b]!);
        for (const id of ids) {
            if (this.used <= this.memory / 2) break;
            this.used -= this.held[id]!.bytes;
            this.held[id] = undefined;
        }
    }

    private request(id: number): void {
        this.onTheWay++;
        this.load(id)
            .catch((error: unknown) => this.fail(id, error))
            .finally(() => {
                this.onTheWay--;
                this.onArrival();
            });
    }

    private fail(id: number, error: unknown): void {
        this.asked[id] = 2;
        this.onError(error instanceof Error ? error : new Error(String(error)));
    }
}
