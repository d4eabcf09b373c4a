import { beforeAll, describe, expect, it } from "vitest";
import { DEFAULTS, Job, K, L, LANES } from "../dev/shape";
import { laneOfBar } from "../src/data/bundle";
import { openBundle } from "../src/data/open";
import { NONE, OpKind } from "../src/data/layout";
import { MemorySource } from "../src/data/source";
import { Trace } from "../src/data/trace";
import { heatOf } from "../src/panels/heat";
import { filterOps, sortOps } from "../src/panels/operations";
import { searchBars } from "../src/panels/find";
import { firstOpen, layoutRows, rowAt } from "../src/scene/layout";
import { bundleBytes } from "./traces";

let trace: Trace;
let bytes: Uint8Array;
const job = new Job(DEFAULTS);

beforeAll(async () => {
    bytes = await bundleBytes(DEFAULTS);
    trace = await Trace.open(new MemorySource(bytes));
});

const laneFor = (rank: number, which: number) => rank * LANES.length + which;

describe("a bundle", () => {
    it("tells every bar as the generator made it", async () => {
        const { lanes } = trace.bundle;
        for (const rank of [0, 5, 7])
            for (const slot of [0, 3, 17, job.slots - 1]) {
                const bar = await trace.bar(lanes.first[laneFor(rank, L.Ops)]! + slot);
                expect(bar!.start).toBe(job.arrival(slot, rank));
                expect(bar!.lane).toBe(laneFor(rank, L.Ops));
            }
        expect(await trace.bar(trace.bundle.bars)).toBeUndefined();
    });

    it("finds the lane of each bar", () => {
        const { lanes, bars } = trace.bundle;
        for (let bar = 0; bar < bars; bar += 97) {
            const lane = laneOfBar(lanes, bar);
            expect(bar).toBeGreaterThanOrEqual(lanes.first[lane]!);
            expect(bar).toBeLessThan(lanes.first[lane]! + lanes.bars[lane]!);
        }
    });

    it("finds a bar by its time", async () => {
        const lane = laneFor(2, L.Ops);
        const time = job.arrival(10, 2) + 1000;
        const bar = await trace.barAt(lane, time, 0);
        expect(bar!.bar).toBe(trace.bundle.lanes.first[lane]! + 10);
        expect(await trace.barAt(lane, job.arrival(10, 2) - 500_000, 1)).toBeUndefined();
    });

    it("refuses other files and cut ones", async () => {
        await expect(openBundle(new MemorySource(new Uint8Array(64)))).rejects.toThrow("not a ringscope view bundle");
        await expect(openBundle(new MemorySource(bytes.subarray(0, 300)))).rejects.toThrow("cut short");
        const newer = bytes.slice();
        newer[15] = 1;
        await expect(openBundle(new MemorySource(newer))).rejects.toThrow("newer");
    });

    it("never hangs or crashes on damage: it opens or says why", async () => {
        for (let i = 0; i < 60; i++) {
            const damaged = bytes.slice(0, Math.min(bytes.length, 60_000));
            damaged[64 + ((i * 7919) % 2000)]! ^= 1 << i % 8;
            await openBundle(new MemorySource(damaged)).catch((error: unknown) => expect(error).toBeInstanceOf(Error));
        }
    });
});

describe("relations", () => {
    it("go up to the call and down to the steps", async () => {
        const bar = (await trace.bar(trace.bundle.lanes.first[laneFor(1, L.Ops)]! + 4))!;
        const related = await trace.related(bar);
        expect(related.parents.map((p) => p.kind)).toEqual([K.Launch, K.Api]);
        expect(related.children).toHaveLength(10);
        expect(related.children.every((child) => child.parent === bar.bar)).toBe(true);
        expect(related.parts).toHaveLength(8);
    });

    it("lead from a launch to what it launched", async () => {
        const launch = (await trace.bar(trace.bundle.lanes.first[laneFor(2, L.Launch)]! + 9))!;
        const related = await trace.related(launch);
        expect(related.launched.map((bar) => [bar.lane, bar.parent])).toEqual([[laneFor(2, L.Ops), launch.bar]]);
    });

    it("lead from a send to its receive", async () => {
        const { ops, lanes } = trace.bundle;
        const send = (await trace.bar(lanes.first[laneFor(3, L.Ops)]! + 7))!;
        expect(ops.kind[send.op]).toBe(OpKind.Pair);
        const related = await trace.related(send);
        expect(related.arrows).toHaveLength(1);
        expect(related.arrows[0]![1].kind).toBe(K.Recv);
        expect(related.arrows[0]![1].lane).toBe(laneFor(4, L.Recvs));
        expect(related.arrows[0]![1].op).toBe(send.op);
    });

    it("name the slow rank as the last", async () => {
        const { ops, members } = trace.bundle;
        const op = (await trace.bar(trace.bundle.lanes.first[laneFor(0, L.Ops)]! + 1))!.op;
        const last = (await trace.partsOf(op)).find((part) => part.index === ops.lastPart[op])!;
        expect(members.globalRank[last.member]).toBe(DEFAULTS.slowRank);
        expect(last.wait).toBe(0);
    });
});

describe("panels", () => {
    it("filter and sort operations", () => {
        expect(filterOps(trace, "")).toHaveLength(trace.bundle.ops.count);
        const gathers = filterOps(trace, "allgather wait>1us");
        expect(gathers.length).toBeGreaterThan(0);
        for (const op of gathers) expect(trace.opName(op)).toContain("AllGather");
        const sorted = sortOps(trace, filterOps(trace, ""), "longestWait", true);
        const { longestWait } = trace.bundle.ops;
        for (let i = 1; i < sorted.length; i++)
            expect(longestWait[sorted[i]!]!).toBeLessThanOrEqual(longestWait[sorted[i - 1]!]!);
    });

    it("show in the heat map who is late", async () => {
        const heat = (await heatOf(trace, "lateness", 0, trace.bundle.ops.count, 1, async () => true))!;
        expect(heat.mean.indexOf(Math.max(...heat.mean))).toBe(DEFAULTS.slowRank);
        const waits = (await heatOf(trace, "wait", 0, trace.bundle.ops.count, 50, async () => true))!;
        expect(waits.columns).toBe(50);
        expect(waits.most).toBeGreaterThan(300_000);
    });

    it("search finds bars by name", async () => {
        let found: number[] = [];
        await searchBars(
            trace,
            "GEMM",
            async () => true,
            ({ hits }) => (found = hits.bars),
        );
        expect(found.length).toBeGreaterThan(50);
        expect(trace.nameOf(trace.barNow(found[0]!)!)).toContain("gemm");
    });
});

describe("layout", () => {
    const on = () => trace.bundle.meta.rows.map((row) => row.on);
    it("opens on one row a GPU", () => {
        const layout = layoutRows(trace.bundle, {
            rowsOn: on(),
            open: firstOpen(trace.bundle),
            pinned: [],
            only: null,
        });
        const folded = layout.rows.filter((row) => row.open === false);
        expect(folded).toHaveLength(8);
        for (const row of folded)
            for (const lane of row.lanes)
                expect(trace.bundle.meta.rows[trace.bundle.lanes.kind[lane]!]!.id).toBe("ops");
        for (let lane = 0; lane < trace.bundle.lanes.count; lane++)
            expect(layout.rowOfLane[lane]).toBeGreaterThanOrEqual(0);
    });

    it("shows the lanes of an open group whose kind is on, and finds rows by height", () => {
        const open = firstOpen(trace.bundle);
        for (const group of [2, 3]) open.add(group);
        const layout = layoutRows(trace.bundle, { rowsOn: on(), open, pinned: [4], only: null });
        const labels = layout.rows.filter((row) => row.open === null).map((row) => row.label);
        expect(labels).toContain("API calls");
        expect(labels).not.toContain("network steps");
        expect(layout.pinned).toHaveLength(1);
        layout.rows.forEach((row, i) => {
            expect(rowAt(layout.rows, row.y)).toBe(i);
            expect(rowAt(layout.rows, row.y + row.height - 0.5)).toBe(i);
        });
        expect(rowAt(layout.rows, layout.height)).toBe(-1);
        expect(NONE).toBe(4294967295);
    });
});
