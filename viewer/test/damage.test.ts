import { beforeAll, describe, expect, it } from "vitest";
import { encodeTable, zstd } from "../dev/encode";
import { decodeBlock } from "../src/data/block";
import { openBundle } from "../src/data/open";
import { FormatError } from "../src/data/columns";
import { DIRECTORY_ENTRY_BYTES, HEADER_BYTES } from "../src/data/layout";
import { MemorySource } from "../src/data/source";
import { Trace } from "../src/data/trace";
import { bundleBytes } from "./traces";

let bytes: Uint8Array;

beforeAll(async () => {
    bytes = await bundleBytes({ events: 3000, ranks: 2, hosts: 1 });
});

const open = (data: Uint8Array) => openBundle(new MemorySource(data));

/** Where the directory names a section. */
function entryOf(data: Uint8Array, name: string): number {
    const view = new DataView(data.buffer, data.byteOffset);
    for (let i = 0; i < view.getUint32(24, true); i++) {
        const at = HEADER_BYTES + i * DIRECTORY_ENTRY_BYTES;
        if (
            Buffer.from(data.subarray(at, at + 8))
                .toString("latin1")
                .replace(/\0/g, "") === name
        )
            return at;
    }
    throw new Error(name);
}

/** The bundle with a section replaced: at the end, where there is room. */
function withSection(name: string, raw: Uint8Array): Uint8Array {
    const packed = zstd(raw);
    const data = new Uint8Array(bytes.length + packed.length);
    data.set(bytes);
    data.set(packed, bytes.length);
    const view = new DataView(data.buffer);
    const entry = entryOf(data, name);
    view.setBigUint64(entry + 8, BigInt(bytes.length), true);
    view.setBigUint64(entry + 16, BigInt(packed.length), true);
    view.setBigUint64(entry + 24, BigInt(raw.length), true);
    return data;
}

const metaWith = (meta: unknown) => withSection("meta", new TextEncoder().encode(JSON.stringify(meta)));

describe("a bundle that is not whole is refused with a sentence", () => {
    it("cut anywhere", async () => {
        for (const n of [0, 7, 63, 64, 200, 800, 3000])
            await expect(open(bytes.subarray(0, n))).rejects.toThrow("cut short");
        // Without its last blocks it opens; those who look for their bars are told.
        const trace = await Trace.open(new MemorySource(bytes.subarray(0, bytes.length - 1000)));
        await expect(trace.bar(trace.bundle.bars - 1)).rejects.toThrow("cut short");
        expect(await trace.bar(0)).toBeDefined();
    });
    it("of another kind, or of a later version", async () => {
        await expect(open(new Uint8Array(64))).rejects.toThrow("not a ringscope view bundle");
        for (const [at, bit, refused] of [
            [14, 1, true],
            [15, 128, true],
            [12, 1, false],
        ] as const) {
            const newer = bytes.slice();
            newer[at]! |= bit;
            if (refused) await expect(open(newer)).rejects.toThrow("newer");
            else expect((await open(newer)).bars).toBeGreaterThan(0);
        }
    });
    it("with sizes that cannot be", async () => {
        for (const name of ["meta", "lanes", "blocks", "ops"])
            for (const [at, value] of [
                [8, 2n ** 60n],
                [16, 2n ** 40n],
                [24, 2n ** 50n],
                [24, 3n],
            ] as const) {
                const data = bytes.slice();
                new DataView(data.buffer).setBigUint64(entryOf(data, name) + at, value, true);
                await expect(open(data), `${name} ${at} ${value}`).rejects.toThrow(/cut short|too large|damaged/);
            }
        const many = bytes.slice();
        new DataView(many.buffer).setUint32(24, 100_000, true);
        await expect(open(many)).rejects.toThrow("directory");
    });
    it("with a span that is no time", async () => {
        for (const span of [NaN, -1, Infinity, 0]) {
            const data = bytes.slice();
            new DataView(data.buffer).setFloat64(32, span, true);
            if (span === 0) expect((await open(data)).span).toBeGreaterThan(0);
            else await expect(open(data)).rejects.toThrow("span");
        }
    });
    it("without what it must have", async () => {
        const data = bytes.slice();
        data.set(new TextEncoder().encode("mota"), entryOf(data, "meta"));
        await expect(open(data)).rejects.toThrow("meta");
        await expect(open(withSection("meta", new TextEncoder().encode("{")))).rejects.toThrow("meta");
        await expect(open(metaWith([]))).rejects.toThrow("meta");
        await expect(open(metaWith({ title: "x", kinds: 3, rows: [] }))).rejects.toThrow("meta");
        await expect(open(withSection("lanes", encodeTable(1, [])))).rejects.toThrow("missing");
    });
    it("but what is not needed may be missing", async () => {
        const row = { id: "x", label: "x", on: true, summary: true };
        const bundle = await open(metaWith({ title: "x", kinds: [], rows: Array(6).fill(row) }));
        expect(bundle.meta.comms).toEqual([]);
        expect(bundle.meta.report).toEqual({});
    });
    it("with tables that do not belong together", async () => {
        const u32 = (...values: number[]) => Uint32Array.from(values);
        const lanes = (group: number, kind: number, bars: number) =>
            withSection(
                "lanes",
                encodeTable(1, [
                    { name: "group", values: u32(group) },
                    { name: "kind", values: u32(kind) },
                    { name: "label", values: u32(0) },
                    { name: "bars", values: u32(bars) },
                ]),
            );
        await expect(open(lanes(0, 0, 5))).rejects.toThrow(/lanes|blocks/);
        await expect(open(lanes(77, 0, 5))).rejects.toThrow(/lane/);
        const blocks = withSection(
            "blocks",
            encodeTable(1, [
                { name: "lane", values: u32(0) },
                { name: "first", values: u32(3) },
                { name: "bars", values: u32(5) },
                { name: "from", values: u32(0) },
                { name: "to", values: u32(9) },
                { name: "offset", values: u32(0) },
                { name: "stored", values: u32(9) },
                { name: "size", values: u32(9) },
            ]),
        );
        await expect(open(blocks)).rejects.toThrow("blocks");
    });
});

describe("a block that is damaged", () => {
    it("is refused", () => {
        const table = encodeTable(2, [
            { name: "start", values: Uint32Array.from([0, 5]) },
            { name: "dur", values: Uint32Array.from([1, 1]) },
        ]);
        expect(decodeBlock(table, 0, 2, 0).count).toBe(2);
        expect(() => decodeBlock(table, 0, 3, 0)).toThrow(FormatError);
        expect(() => decodeBlock(table.subarray(0, table.length - 1), 0, 2, 0)).toThrow(FormatError);
        const wide = encodeTable(1, [
            { name: "start", values: Uint32Array.from([0]) },
            { name: "dur", values: Uint32Array.from([1]) },
            { name: "kind", values: Uint16Array.from([1]) },
        ]);
        expect(() => decodeBlock(wide, 0, 1, 0)).toThrow("bytes");
    });
});

describe("any bit", () => {
    it("may be wrong: the bundle opens, or says why, and is looked through without harm", async () => {
        for (let i = 0; i < 150; i++) {
            const damaged = bytes.slice();
            damaged[(i * 104729) % (i % 2 ? 2000 : damaged.length)]! ^= 1 << i % 8;
            try {
                const trace = await Trace.open(new MemorySource(damaged));
                const { bars } = trace.bundle;
                for (const bar of [0, Math.floor(bars / 2), bars - 1]) {
                    const found = await trace.bar(bar);
                    if (found) await trace.related(found);
                }
            } catch (error) {
                expect(error).toBeInstanceOf(Error);
                expect((error as Error).message.length).toBeGreaterThan(5);
            }
        }
    });
});
