import { beforeAll, describe, expect, it } from "vitest";
import { column, encodeTable, join, Pieces, zstdInit } from "../dev/encode";
import { L, LANES } from "../dev/shape";
import { Blocks } from "../src/data/blocks";
import type { Bundle } from "../src/data/bundle";
import { openBundle } from "../src/data/open";
import { Decoder, type Answer, type Job } from "../src/data/decoder";
import { Chunks, Edges } from "../src/data/chunks";
import { Table } from "../src/data/columns";
import { BarFlag, OVERVIEW_LANES } from "../src/data/layout";
import { MemorySource, type Source } from "../src/data/source";
import { Trace } from "../src/data/trace";
import { serveJobs } from "../src/data/worker";
import { zstdReady } from "../src/data/zstd";
import { factsOf, furtherFacts } from "../src/panels/facts";
import { moment } from "../src/panels/words";
import { emptyOverview, Overview } from "../src/data/overview";
import { Folder, foldOverview, newScan } from "../src/timeline/fold";
import { bundleBytes } from "./traces";

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
    memory = new MemorySource(await bundleBytes({ events: 60_000, ranks: 4 }));
});

const laneOf = (rank: number, which: number) => rank * LANES.length + which;
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
        const blocks = new Blocks(bundle, undefined, 300_000);
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
        expect(blocks.waiting).toBe(10); // asked for or still to be
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

describe("tables in pieces", () => {
    const source = (pieces: Pieces): MemorySource => new MemorySource(join(pieces.parts));
    it("have all relations of a bar, also across the edge of two pieces", async () => {
        await Promise.all([zstdInit(), zstdReady()]);
        const pieces = new Pieces();
        for (const from of [[3, 5, 5], [5, 5], [5, 8], [9]])
            pieces.add(
                encodeTable(from.length, [
                    column("from", Uint32Array.from(from)),
                    column(
                        "to",
                        Uint32Array.from(from, (bar) => bar * 10),
                    ),
                    column("kind", new Uint8Array(from.length)),
                ]),
            );
        const first = column("first", Float64Array.from([3, 5, 5, 9]));
        const index = new Table(encodeTable(4, [first, ...pieces.columns()]));
        const edges = new Edges(new Chunks(source(pieces), index, 0));
        const found = [3, 4, 5, 8, 9, 10].map(async (bar) => (await edges.leaving(bar)).map(({ to }) => to));
        expect(await Promise.all(found)).toEqual([[30], [], [50, 50, 50, 50, 50], [80], [90], []]);
    });
    it("have the overview of each lane in its place", async () => {
        await Promise.all([zstdInit(), zstdReady()]);
        const [pieces, buckets] = [new Pieces(), 4];
        // Lanes of a whole piece, and one more.
        for (const [from, lanes] of [
            [0, OVERVIEW_LANES],
            [OVERVIEW_LANES, 1],
        ] as const) {
            const values = Uint8Array.from({ length: lanes * buckets }, (_, i) => from + Math.floor(i / buckets) + 1);
            pieces.add(
                encodeTable(
                    values.length,
                    ["busy", "kind", "flags"].map((name) => column(name, values)),
                ),
            );
        }
        const index = new Table(encodeTable(2, pieces.columns()));
        const overview = { buckets, index, at: 0 };
        const all = new Overview({ overview, span: 1000, source: source(pieces) } as unknown as Bundle);
        const into = emptyOverview();
        for (const lane of [0, 1, 17, OVERVIEW_LANES - 1, OVERVIEW_LANES]) {
            expect(all.get(lane, into)).toBe(true);
            expect([into.busy[into.base], into.kind[into.base + buckets - 1]]).toEqual([lane + 1, lane + 1]);
        }
        expect([into.width, into.buckets, all.get(2 * OVERVIEW_LANES, into)]).toEqual([250, buckets, false]);
    });
});

describe("the overview and the bars", () => {
    it("show the same kinds where a pixel is a bucket", async () => {
        const bundle = await openBundle(memory);
        const [blocks, overview, lanes] = [new Blocks(bundle), new Overview(bundle), emptyOverview()];
        const width = bundle.overview.buckets / 4;
        const axis = { t0: 0, scale: width / bundle.span };
        for (const lane of [0, 3, 5, 7]) {
            const [coarse, fine] = [newScan(width), newScan(width)];
            expect(overview.get(lane, lanes)).toBe(true);
            foldOverview(lanes, axis, coarse, 0, bundle.span);
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

/** A worker that answers as the page's would, or breaks down. */
class FakeWorker {
    onmessage: (event: MessageEvent<Answer>) => void = () => {};
    onerror: (event: { preventDefault(): void }) => void = () => {};
    jobs = 0;
    terminated = false;
    private readonly scope = {
        onmessage: (_: MessageEvent<Job>): void => {},
        postMessage: (data: Answer) => this.onmessage({ data: structuredClone(data) } as MessageEvent<Answer>),
    };
    constructor(private readonly breaks = false) {
        serveJobs(this.scope);
    }
    postMessage(job: Job, transfer: ArrayBuffer[]): void {
        this.jobs++;
        // Not the whole bundle with it.
        expect(transfer).toEqual([job.bytes.buffer]);
        expect(job.bytes.byteLength).toBe(job.bytes.buffer.byteLength);
        if (this.breaks) setTimeout(() => this.onerror({ preventDefault: () => {} }));
        else setTimeout(() => this.scope.onmessage({ data: job } as MessageEvent<Job>));
    }
    terminate(): void {
        this.terminated = true;
    }
}

describe("a worker", () => {
    const withWorker = (worker: FakeWorker) => new Decoder(() => worker as unknown as Worker);
    const arrived = (blocks: Blocks): Promise<void> =>
        new Promise((resolve) => {
            blocks.onArrival = () => {
                blocks.work(longAfter());
                if (blocks.waiting === 0) resolve();
            };
        });

    it("decodes what the page would have decoded, a few at a time", async () => {
        const bundle = await openBundle(memory);
        const worker = new FakeWorker();
        const [beside, here] = [new Blocks(bundle, withWorker(worker)), new Blocks(bundle)];
        for (let id = 0; id < 12; id++) (beside.get(id), here.get(id));
        expect(beside.work(longAfter())).toBe(false);
        await new Promise((resolve) => setTimeout(resolve));
        expect(worker.jobs).toBe(4);
        here.work(longAfter());
        await arrived(beside);
        for (let id = 0; id < 12; id++) expect(beside.peek(id)).toEqual(here.peek(id));
        expect(beside.used).toBe(here.used);
    });

    it("is asked once, however many want a block", async () => {
        const worker = new FakeWorker();
        const blocks = new Blocks(await openBundle(memory), withWorker(worker));
        const [a, b] = await Promise.all([blocks.load(5), blocks.load(5)]);
        expect(a).toBe(b);
        expect(worker.jobs).toBe(1);
    });

    it("that breaks down is replaced by the page itself", async () => {
        const worker = new FakeWorker(true);
        const blocks = new Blocks(await openBundle(memory), withWorker(worker));
        expect((await blocks.load(2)).count).toBeGreaterThan(0);
        expect(worker.terminated).toBe(true);
        blocks.get(3);
        expect(blocks.work(longAfter())).toBe(true);
    });

    it("tells what is damaged", async () => {
        const bundle = await openBundle(memory);
        const size = bundle.blocks.size.map((n) => n - 1) as Uint32Array;
        const blocks = new Blocks({ ...bundle, blocks: { ...bundle.blocks, size } }, withWorker(new FakeWorker()));
        await expect(blocks.load(0)).rejects.toThrow(Error);
    });
});

describe("arguments", () => {
    it("are told by their place, and not where a bar has none", async () => {
        const trace = new Trace(await openBundle(memory));
        const steps = laneOf(0, L.Steps0);
        const bar = (await trace.bar(trace.bundle.lanes.first[steps]! + 1))!;
        expect(await furtherFacts(trace, bar)).toEqual([
            ["peer", "1"],
            ["size", "1.0 MiB"],
            ["posted", moment(bar.start - 700, 1)],
            ["transport", "IB"],
            ["request", "0xfeed00000001"],
        ]);
        const last = (await trace.bar(trace.bundle.lanes.first[steps]! + 3))!;
        expect((await furtherFacts(trace, last)).map(([label]) => label)).toEqual(["size", "transport", "request"]);
        const compute = (await trace.bar(trace.bundle.lanes.first[laneOf(0, L.Compute)]!))!;
        expect(await furtherFacts(trace, compute)).toEqual([]);
    });

    it("and a start that is not told is not claimed", async () => {
        const trace = new Trace(await openBundle(memory));
        const bar = (await trace.bar(trace.bundle.lanes.first[laneOf(2, L.Ops)]! + 7))!;
        expect(bar.flags & BarFlag.StartUnknown).toBeTruthy();
        const facts = new Map(factsOf(trace, bar));
        expect(facts.get("start")).toContain("unknown");
        expect(facts.get("duration")).toContain("at most");
    });
});
