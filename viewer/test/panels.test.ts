// What the panels show: arguments in a search, pairs and their fan-outs, rows of one name, flags, waits.

import { beforeEach, describe, expect, it } from "vitest";
import { DEFAULTS, Job, L, LANES, SlotKind, slotKind } from "../dev/shape";
import { Level } from "../src/data/bundle";
import { BarFlag, OpFlag, OpKind } from "../src/data/layout";
import type { Trace } from "../src/data/trace";
import { factsOf, onlyNew, type Fact } from "../src/panels/facts";
import { searchBars } from "../src/panels/find";
import { heatOf } from "../src/panels/heat";
import { bandwidth, moment, utc, waited } from "../src/panels/words";
import { byCost, worstOps } from "../src/panels/worst";
import { Session } from "../src/state/session";
import { flagsAt } from "../src/timeline/flags";
import { Geometry } from "../src/timeline/geometry";
import { DENSE_HEIGHT, layoutRows, THIN_HEIGHT } from "../src/scene/layout";
import { openTrace } from "./traces";

let trace: Trace;
const job = new Job(DEFAULTS);

beforeEach(async () => {
    trace = await openTrace(DEFAULTS);
});

async function search(text: string): Promise<number[]> {
    let found: number[] = [];
    await searchBars(
        trace,
        text,
        async () => true,
        ({ hits, done }) => done && (found = hits.bars),
    );
    return found;
}

describe("a search looks into arguments", () => {
    const laneOf = (rank: number, which: L) => rank * LANES.length + which;
    it("by their label and what is shown", async () => {
        const found = await search("peer 3");
        const { lanes } = trace.bundle;
        // The steps of rank 2 go to rank 3; the last of each four has no peer.
        const from = lanes.first[laneOf(2, L.Steps0)]!;
        const to = lanes.first[laneOf(2, L.Steps1)]! + lanes.bars[laneOf(2, L.Steps1)]!;
        expect(found.length).toBeGreaterThan(0.7 * (to - from));
        expect(found.length).toBeLessThan(0.76 * (to - from));
        expect(found.every((bar) => bar >= from && bar < to)).toBe(true);
        expect(await search("PEER=3")).toEqual(found);
        expect(await search("peer 33")).toEqual([]);
    });
    it("by words, numbers with their unit, and ids", async () => {
        const sized = await search("1.0 MiB");
        expect(sized.length).toBeGreaterThan(100);
        const [request] = await search("0xfeed00000005");
        const values = await trace.blocks.further(request!);
        expect(values).toContain(0xfeed00000005n);
        expect(await search("no such thing 7")).toEqual([]);
    });
});

describe("pairs and their fan-out", () => {
    const pairs = () =>
        [...Array(trace.bundle.ops.count).keys()].filter((op) => trace.bundle.ops.kind[op] === OpKind.Pair);
    it("are not both counted in the heat map", async () => {
        const all = trace.bundle.ops.count;
        const before = (await heatOf(trace, "wait", 0, all, 1, async () => true))!;
        const kinds = trace.bundle.ops.kind as Uint8Array;
        // As if each pair were told a second time by a fan-out: what is left is what collectives waited.
        for (const op of pairs()) kinds[op] = OpKind.FanOut;
        const after = (await heatOf(trace, "wait", 0, all, 1, async () => true))!;
        expect([...after.mean]).not.toEqual([...before.mean]);
        kinds.fill(OpKind.FanOut);
        const none = (await heatOf(trace, "wait", 0, all, 1, async () => true))!;
        expect([...none.mean].every(Number.isNaN)).toBe(true);
    });
    it("are one line of the worst operations", () => {
        const { ops } = trace.bundle;
        const most = byCost(trace).length;
        expect(worstOps(trace, 8)).toEqual([...byCost(trace).subarray(0, 8)]);
        expect(worstOps(trace, most)).toHaveLength(most);
        const kinds = ops.kind as Uint8Array;
        const ring = [...Array(job.slots).keys()].find((slot) => slotKind(slot) === SlotKind.Ring);
        expect(ring).toBeDefined();
        // The first pair of a slot is taken for a fan-out, and the others for what is inside it.
        const [first, ...others] = pairs().slice(0, DEFAULTS.ranks);
        kinds[first!] = OpKind.FanOut;
        for (const op of others) (ops.flags as Uint8Array)[op]! |= OpFlag.Inside;
        expect(trace.countOf()).toBe(ops.count - others.length);
        expect(trace.countOf(others)).toBe(0);
        expect(worstOps(trace, most).some((op) => others.includes(op))).toBe(false);
        expect(worstOps(trace, most).length).toBeGreaterThan(most - DEFAULTS.ranks - 1);
    });
});

describe("rows of one name", () => {
    const layout = () =>
        layoutRows(trace.bundle, {
            rowsOn: trace.bundle.meta.rows.map(() => true),
            open: new Set(Array.from({ length: trace.bundle.groups.count }, (_, g) => g)),
            pinned: [],
            only: null,
        });
    it("say it once; another name is always said", () => {
        const labels = layout().rows.map((row) => row.label);
        expect(labels).not.toContain("″"); // "GPU channels" and "GPU channels 2" are two names
        const { lanes } = trace.bundle;
        const label = lanes.label as Uint32Array;
        for (let lane = 1; lane < lanes.count; lane++) if (lanes.sub[lane]! > 0) label[lane] = label[lane - 1]!;
        const again = layout().rows.filter((row) => row.label === "″");
        expect(again.length).toBe([...(lanes.sub as Uint8Array)].filter((sub) => sub > 0).length);
        expect(again.every((row) => row.height === THIN_HEIGHT)).toBe(true);
    });
    it("are a dense band where there are many", () => {
        const { lanes } = trace.bundle;
        const [label, kind, sub] = [lanes.label as Uint32Array, lanes.kind as Uint8Array, lanes.sub as Uint8Array];
        const group = lanes.group[1]!;
        const mine = [...Array(lanes.count).keys()].filter((lane) => lanes.group[lane] === group);
        mine.forEach((lane, i) => ((label[lane] = label[mine[0]!]!), (kind[lane] = kind[mine[0]!]!), (sub[lane] = i)));
        const rows = layout().rows.filter((row) => row.open === null && row.group === group);
        expect(rows.length).toBeGreaterThan(5);
        expect(rows.slice(1).every((row) => row.height === DENSE_HEIGHT && row.label === "")).toBe(true);
    });
});

it("facts of a bar are not repeated for its operation", () => {
    const ofBar: Fact[] = [
        ["bytes", "4.0 MiB"],
        ["datatype", "ncclFloat32"],
        ["algorithm", "RING, LL"],
    ];
    const ofOp: Fact[] = [
        ["size", "4.0 MiB"],
        ["datatype", "ncclFloat32"],
        ["algorithm", "RING"],
    ];
    expect(onlyNew(ofOp, ofBar)).toEqual([["algorithm", "RING"]]);
    expect([bandwidth(0.00026), bandwidth(0.5), bandwidth(187.3)]).toEqual(["0.3 MB/s", "0.5 GB/s", "187 GB/s"]);
});

it("flags are found where they are drawn", () => {
    const session = new Session(trace);
    session.view.value = { t0: 0, t1: trace.bundle.span };
    const geometry = new Geometry(session);
    [geometry.width, geometry.height] = [1200, 700];
    geometry.update();
    const { flags, groups } = trace.bundle;
    expect(flags.time.length).toBeGreaterThan(0);
    const row = geometry.layout.rows[geometry.layout.rowOfGroup[flags.group[0]!]!]!;
    expect(groups.level[row.group]).toBeGreaterThanOrEqual(Level.Host);
    const [x, y] = [geometry.x(flags.time[0]!), geometry.rowY(row)];
    // From just before its pole to the tip of its cloth.
    for (const [off, found] of [
        [-3, false],
        [-1, true],
        [0, true],
        [3, true],
        [7, true],
        [10, false],
    ] as const)
        expect(flagsAt(trace, geometry, row, x + off, y + 4).includes(0), `${off} pixels off`).toBe(found);
    expect(flagsAt(trace, geometry, row, x + 200, y + 4)).not.toContain(0);
    expect(flagsAt(trace, geometry, row, x + 3, y + row.height - 1)).toEqual([]);
});

it("a jump to a moment keeps the width of the window", async () => {
    const session = new Session(trace);
    const block = await trace.blocks.load(0);
    (block.end as Float64Array)[3] = block.start[3]!;
    session.look({ t0: trace.bundle.span * 0.8, t1: trace.bundle.span * 0.9 });
    await session.jump(block.first + 3);
    const { t0, t1 } = session.view.value;
    expect(t1 - t0).toBeCloseTo(trace.bundle.span * 0.1, -1);
    expect(block.start[3]! >= t0 && block.start[3]! <= t1).toBe(true);
    // One that is seen already does not move it.
    const view = { t0: block.start[3]! - 1000, t1: block.start[3]! + 9000 };
    session.look(view);
    await session.jump(block.first + 3);
    expect(session.view.value).toEqual(view);
});

it("moments are rounded down, and zero has its date", () => {
    expect(moment(5_503_211_999)).toBe("5.503211 s");
    expect(moment(1_999, 1)).toBe("0.000001999 s");
    expect(utc("1794711703992551123")).toBe("2026-11-15 03:01:43.992551 UTC");
    expect(utc("500000000")).toBe("");
});

describe("waits below the clock error", () => {
    it("are neither shown nor counted", async () => {
        const [worst] = worstOps(trace, 1);
        const { ops } = trace.bundle;
        const wait = ops.wait[worst!]!;
        expect(trace.knownWait(worst!, wait)).toBe(wait);
        const { opFrom, opTo } = { opFrom: worst!, opTo: worst! + 1 };
        const before = await heatOf(trace, "wait", opFrom, opTo, 10, async () => true);
        expect(before!.most).toBeGreaterThan(0);

        // Twice the error is just above the longest wait in it: nothing is left.
        const longest = Math.max(...(await trace.partsOf(worst!)).map((part) => part.wait || 0));
        (ops as { error: Float64Array }).error = new Float64Array(ops.count).fill(longest / 2 + 1);
        expect(trace.knownWait(worst!, wait)).toBe(0);
        expect(worstOps(trace, ops.count)).not.toContain(worst);
        expect((await heatOf(trace, "wait", opFrom, opTo, 10, async () => true))!.most).toBe(0);
        expect(waited(5, 20)).toBe("<20 ns");
        expect(waited(20, 20)).toBe("20 ns");
        expect(waited(NaN, 20)).toBe("?");
    });
});

describe("a wait", () => {
    const facts = async (flags: number, share: number): Promise<Map<string, string>> => {
        const bar = (await trace.bar((await trace.partsOf(0))[0]!.bar))!;
        const length = bar.end - bar.start;
        return new Map(factsOf(trace, { ...bar, flags, wait: length * share }));
    };
    it("is followed by the transfer", async () => {
        const shown = await facts(0, 0.5);
        expect(shown.get("wait")).toMatch(/ for the last rank$/);
        expect(shown.has("after the wait")).toBe(true);
    });
    it("for a rank that never came has no end, and no transfer", async () => {
        const shown = await facts(BarFlag.Open, 1);
        expect(shown.get("wait")).toMatch(/^at least .*: another rank had not arrived$/);
        expect(shown.has("after the wait")).toBe(false);
    });
});
