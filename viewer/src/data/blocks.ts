// The blocks that are in memory. Drawing asks for what it needs and takes what is there; the rest is queued and decoded
// between frames, a few milliseconds at a time, so that no frame waits for data. Old blocks go when memory is short.

import { decodeBlock, furtherColumns, type Block } from "./block";
import type { Bundle } from "./bundle";
import { laneOfBar } from "./bundle";
import { unzstd } from "./zstd";

/** 10 M bars need about 300 MB when all are looked at; a page of less than 1 GB has room for that. */
const MEMORY = 384 << 20;
/** Requests over HTTP at one time: browsers allow six to a server. */
const IN_FLIGHT = 6;

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
    private clock = 1;
    private onTheWay = 0;

    constructor(
        private readonly bundle: Bundle,
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

    /** Decodes what is queued until `deadline` (performance.now()), one block at least; says whether anything came. */
    work(deadline: number): boolean {
        let came = false;
        for (let first = true; this.queue.length > 0 && (first || performance.now() < deadline); first = false) {
            const id = this.queue.shift()!;
            const { offset, stored } = this.place(id);
            try {
                const bytes = this.bundle.source.now(offset, stored);
                if (bytes) {
                    this.keep(id, bytes);
                    came = true;
                } else if (this.onTheWay < IN_FLIGHT) this.request(id);
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
    async load(id: number): Promise<Block> {
        const there = this.held[id];
        if (there) return there;
        const { offset, stored } = this.place(id);
        const bytes = await this.bundle.source.bytes(offset, stored);
        return this.held[id] ?? this.keep(id, bytes);
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

    async further(bar: number): Promise<[string, number | bigint][]> {
        const id = this.blockOfBar(bar);
        const { offset, stored, size } = this.place(id);
        const bytes = await this.bundle.source.bytes(offset, stored);
        return furtherColumns(unzstd(bytes, size), bar - this.bundle.blocks.first[id]!);
    }

    private place(id: number): { offset: number; stored: number; size: number } {
        const { blocks, barsAt } = this.bundle;
        return { offset: barsAt + blocks.offset[id]!, stored: blocks.stored[id]!, size: blocks.size[id]! };
    }

    private keep(id: number, bytes: Uint8Array): Block {
        const { blocks } = this.bundle;
        const raw = unzstd(bytes, blocks.size[id]!);
        const block = decodeBlock(raw, blocks.first[id]!, blocks.bars[id]!, blocks.from[id]!);
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
