// Traces for the tests: synthetic ones, made once per set of options, and lanes with bars given by hand.

import { encodeTable, join } from "../dev/encode";
import type { Options } from "../dev/shape";
import { synthetic } from "../dev/synthetic";
import { decodeBlock, type Block } from "../src/data/block";
import { MemorySource } from "../src/data/source";
import { Trace } from "../src/data/trace";

const made = new Map<string, Promise<Uint8Array>>();

/** The bytes of a synthetic bundle; not to be changed. */
export function bundleBytes(options: Partial<Options> = {}): Promise<Uint8Array> {
    const key = JSON.stringify(options);
    let bytes = made.get(key);
    if (!bytes) made.set(key, (bytes = synthetic(options).then(({ parts }) => join(parts))));
    return bytes;
}

/** A trace of its own: a test may change its tables. */
export const openTrace = async (options: Partial<Options> = {}): Promise<Trace> =>
    Trace.open(new MemorySource(await bundleBytes(options)));

export interface BarIn {
    start: number;
    dur: number;
    kind?: number;
    flags?: number;
    wait?: number;
    fade?: number;
    /** The operation. */
    op?: number;
}

export function blockOf(bars: BarIn[], from = 0, first = 0): Block {
    const u32 = (pick: (bar: BarIn) => number) => Uint32Array.from(bars, pick);
    return decodeBlock(
        encodeTable(bars.length, [
            { name: "start", values: u32((b) => b.start - from) },
            { name: "dur", values: u32((b) => b.dur) },
            { name: "kind", values: Uint8Array.from(bars, (b) => b.kind ?? 0) },
            { name: "flags", values: Uint8Array.from(bars, (b) => b.flags ?? 0) },
            { name: "wait", values: u32((b) => b.wait ?? 0) },
            { name: "fade", values: u32((b) => b.fade ?? 0) },
            { name: "op", values: u32((b) => (b.op ?? -1) + 1) },
        ]),
        first,
        bars.length,
        from,
    );
}

/** Gives a lane these bars instead of its own: one block for each list. Lanes behind it lose as many blocks. */
export function putBars(trace: Trace, lane: number, ...lists: BarIn[][]): void {
    const { blocks, lanes } = trace.bundle;
    const held = (trace.blocks as unknown as { held: Block[] }).held;
    let bar = lanes.first[lane]!;
    lists.forEach((bars, i) => {
        const id = lanes.blockFrom[lane]! + i;
        (blocks.first as Float64Array)[id] = bar;
        (blocks.bars as Uint32Array)[id] = bars.length;
        (blocks.from as Float64Array)[id] = bars[0]!.start;
        (blocks.to as Float64Array)[id] = Math.max(...bars.map((b) => b.start + b.dur + (b.fade ?? 0)));
        held[id] = blockOf(bars, bars[0]!.start, bar);
        bar += bars.length;
    });
    lanes.blockFrom[lane + 1] = lanes.blockFrom[lane]! + lists.length;
}
