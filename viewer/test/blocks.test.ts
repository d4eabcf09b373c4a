import { beforeAll, describe, expect, it } from "vitest";
import { join } from "../dev/encode";
import { synthetic } from "../dev/synthetic";
import { Blocks } from "../src/data/blocks";
import { openBundle, type Bundle } from "../src/data/bundle";
import { fromBase64, HttpSource, MemorySource, SplitSource, type Source } from "../src/data/source";
import { Overview } from "../src/data/overview";
import { Folder, newScan } from "../src/timeline/fold";

let memory: MemorySource;

/** As a server would be: nothing at once. */
class Slow implements Source {
    requests = 0;
    now(): undefined {
        return undefined;
    }
    async bytes(offset: number, length: number): Promise<Uint8Array> {
        this.requests++;
        await new Promise((resolve) => setTimeout(resolve, 1));
        return memory.now(offset, length);
    }
}

beforeAll(async () => {
    memory = new MemorySource(join((await synthetic({ events: 60_000, ranks: 4 })).parts));
});

const longAfter = () => performance.now() + 10_000;

describe("blocks", () => {
    it("come within the time given, and stay", async () => {
        const blocks = new Blocks(await openBundle(memory));
        expect(blocks.get(3)).toBeUndefined();
        expect(blocks.work(longAfter())).toBe(true);
        expect(blocks.get(3)?.count).toBeGreaterThan(0);
        expect(blocks.waiting).toBe(0);
    });

    it("are not wanted any more when the next frame does not ask", async () => {
        const blocks = new Blocks(await openBundle(memory));
        blocks.get(1);
        blocks.beginFrame();
        expect(blocks.work(longAfter())).toBe(false);
        blocks.get(1);
        expect(blocks.work(longAfter())).toBe(true);
    });

    it("go when memory is short, but not those in use", async () => {
        const bundle = await openBundle(memory);
        const blocks = new Blocks(bundle, 300_000);
        for (let id = 0; id < bundle.blocks.count; id++) {
            blocks.beginFrame();
            blocks.get(id);
            blocks.work(longAfter());
            expect(blocks.peek(id)).toBeDefined();
        }
        expect(blocks.used).toBeLessThan(900_000);
        expect(blocks.peek(0)).toBeUndefined();
    });

    it("come from a server, some at a time", async () => {
        const source = new Slow();
        const blocks = new Blocks(await openBundle(source));
        const before = source.requests;
        for (let id = 0; id < 10; id++) blocks.get(id);
        blocks.work(longAfter());
        expect(source.requests - before).toBe(6);
        await new Promise(
            (resolve) =>
                (blocks.onArrival = () => blocks.work(longAfter()) || (blocks.waiting === 0 && resolve(undefined))),
        );
        for (let id = 0; id < 10; id++) expect(blocks.peek(id)).toBeDefined();
    });

    it("that are damaged are said once, and the rest goes on", async () => {
        const bundle: Bundle = await openBundle(memory);
        const broken = {
            ...bundle,
            blocks: { ...bundle.blocks, stored: bundle.blocks.stored.map((n, i) => (i === 2 ? 5 : n)) as Uint32Array },
        };
        const blocks = new Blocks(broken);
        const errors: string[] = [];
        blocks.onError = (error) => errors.push(error.message);
        for (let frame = 0; frame < 3; frame++) {
            blocks.beginFrame();
            for (let id = 0; id < 5; id++) blocks.get(id);
            blocks.work(longAfter());
        }
        expect(errors).toHaveLength(1);
        expect(blocks.peek(3)).toBeDefined();
    });
});

describe("the overview and the bars", () => {
    it("show the same kinds where a pixel is a bucket", async () => {
        const bundle = await openBundle(memory);
        const [blocks, overview] = [new Blocks(bundle), new Overview(bundle)];
        const folder = new Folder(bundle, blocks, overview);
        const width = bundle.overview.buckets / 4;
        const axis = { t0: 0, scale: width / bundle.span };
        for (const lane of [0, 3, 5, 7]) {
            const [coarse, fine] = [newScan(width), newScan(width)];
            expect(folder.fold(lane, axis, coarse)).toBe(true);
            const bare = new Folder({ ...bundle }, blocks, { get: () => false } as unknown as Overview);
            bare.fold(lane, axis, fine);
            blocks.work(longAfter());
            fine.kind.fill(0);
            expect(bare.fold(lane, axis, fine)).toBe(true);
            let differ = 0;
            for (let x = 0; x < width; x++) if ((coarse.kind[x] === 0) !== (fine.kind[x] === 0)) differ++;
            // At the edges of bars a bucket may fall to the neighbouring pixel.
            expect(differ / width).toBeLessThan(0.05);
        }
    });
});

describe("sources", () => {
    it("decode base64 with and without the browser's help", () => {
        const bytes = Uint8Array.from({ length: 3_000_001 }, (_, i) => i * 7);
        const text = Buffer.from(bytes).toString("base64");
        expect(Buffer.compare(Buffer.from(fromBase64(text)), Buffer.from(bytes))).toBe(0);
    });

    it("give the first piece while the second is to come", async () => {
        let come: (rest: Uint8Array) => void = () => {};
        const split = new SplitSource(Uint8Array.from([0, 1, 2, 3]), new Promise((resolve) => (come = resolve)));
        expect([...split.now(1, 3)!]).toEqual([1, 2, 3]);
        expect(split.now(4, 2)).toBeUndefined();
        const [later, across] = [split.bytes(5, 2), split.bytes(2, 4)];
        come(Uint8Array.from([4, 5, 6, 7]));
        expect([...(await later)]).toEqual([5, 6]);
        expect([...(await across)]).toEqual([2, 3, 4, 5]);
        await expect(split.bytes(6, 4)).rejects.toThrow("cut short");
    });

    it("take nothing but a range from a server", async () => {
        const original = globalThis.fetch;
        let asked = "";
        try {
            globalThis.fetch = (async (_: unknown, init: RequestInit) => {
                asked = (init.headers as Record<string, string>).Range!;
                return new Response(new Uint8Array(4), { status: 206 });
            }) as typeof fetch;
            expect((await new HttpSource("x").bytes(10, 4)).length).toBe(4);
            expect(asked).toBe("bytes=10-13");
            await expect(new HttpSource("x").bytes(10, 5)).rejects.toThrow("instead of 5");
            globalThis.fetch = (async () => new Response("all of it", { status: 200 })) as typeof fetch;
            await expect(new HttpSource("x").bytes(0, 4)).rejects.toThrow("instead of a range");
        } finally {
            globalThis.fetch = original;
        }
    });
});
