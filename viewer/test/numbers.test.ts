// Numbers that are shown: sums of an area, facts of a bar and of an operation. Expected ones are worked out by hand.

import { beforeEach, describe, expect, it } from "vitest";
import { DEFAULTS, K, L } from "../dev/shape";
import { Level } from "../src/data/bundle";
import { groupAbove } from "../src/data/groups";
import { BarFlag, NONE, OpFlag } from "../src/data/layout";
import type { Bar, Trace } from "../src/data/trace";
import { factsOf, factsOfFlag, factsOfOp, factsOfRow } from "../src/panels/facts";
import { filterOps, sortOps } from "../src/panels/operations";
import { matrixOf, type Cell } from "../src/panels/pairs";
import { addBlock, sumsOf, type By, type Sum } from "../src/panels/sums";
import { argument, bytes, count, duration } from "../src/panels/words";
import { Session } from "../src/state/session";
import { barAsJson } from "../src/timeline/copy";
import { value as spanValue } from "../src/panels/span";
import { openTrace, putBars, type BarIn } from "./traces";

let trace: Trace;
beforeEach(async () => {
    trace = await openTrace(DEFAULTS);
});

describe("sums of an area", () => {
    /** Sums of one lane over t0 .. t1. */
    const sums = async (bars: BarIn[], t0: number, t1: number, by: By = "function"): Promise<Sum[]> => {
        putBars(trace, L.Ops, bars);
        return (await sumsOf(trace, [L.Ops], t0, t1, by, async () => true))!;
    };
    const timeAndWait = async (bar: BarIn, t0: number, t1: number): Promise<number[]> => {
        const found = await sums([{ start: 0, dur: 1 }, bar, { start: 99_000, dur: 1 }], t0, t1);
        return found.flatMap((sum) => [sum.bars, sum.time, sum.wait, spanValue(sum, "mean")]);
    };

    it("count of a bar what lies in the area: time, wait and the mean of it", async () => {
        const bar = { start: 1000, dur: 1000, wait: 400 };
        expect(await timeAndWait(bar, 500, 3000)).toEqual([1, 1000, 400, 1000]); // all of it
        expect(await timeAndWait(bar, 1100, 3000)).toEqual([1, 900, 300, 900]); // across the area's start, in the wait
        expect(await timeAndWait(bar, 1700, 3000)).toEqual([1, 300, 0, 300]); // behind the wait
        expect(await timeAndWait(bar, 500, 1300)).toEqual([1, 300, 300, 300]); // across its end, in the wait
        expect(await timeAndWait(bar, 500, 1900)).toEqual([1, 900, 400, 900]);
        expect(await timeAndWait(bar, 1100, 1200)).toEqual([1, 100, 100, 100]); // over all of the area
        expect(await timeAndWait(bar, 1300, 1600)).toEqual([1, 300, 100, 300]);
    });
    it("leave out what only touches it", async () => {
        const bar = { start: 1000, dur: 1000 };
        expect(await timeAndWait(bar, 2000, 3000)).toEqual([]);
        expect(await timeAndWait(bar, 500, 1000)).toEqual([]);
        expect(await timeAndWait(bar, 1999, 3000)).toEqual([1, 1, 0, 1]);
        expect(await timeAndWait(bar, 500, 1001)).toEqual([1, 1, 0, 1]);
    });
    it("count bytes and bandwidth of operations that are whole in it, and known", async () => {
        const { ops } = trace.bundle;
        const [size, rate] = [ops.bytes as Float64Array, ops.busbw as Float32Array];
        [0, 1, 2, 3, 4].forEach((op) => ([size[op], rate[op]] = [1000 * 2 ** op, 10 * (op + 1)]));
        [size[3], rate[2]] = [NaN, NaN];
        const bar = (op: number, kind = K.AllReduce): BarIn => ({ start: 1000 * op + 100, dur: 800, kind, op });
        const bars = [bar(0), bar(1), bar(2), bar(3), bar(4)];
        const [sum] = await sums(bars, 0, 5000);
        expect([sum!.bytes, sum!.bandwidth, sum!.timed, sum!.bars]).toEqual([23_000, 10 + 20 + 40 + 50, 4, 5]);
        const [cut] = await sums(bars, 101, 4899); // the first and the last are not whole
        expect([cut!.bytes, cut!.bandwidth, cut!.timed, cut!.bars]).toEqual([6000, 20 + 40, 2, 5]);
        const [edge] = await sums(bars, 100, 4900);
        expect(edge!.bytes).toBe(23_000);
        // Steps and channels name their operation, and add nothing to it.
        const [steps] = await sums([bar(0, K.Step), bar(1, K.Step)], 0, 5000);
        expect([steps!.bytes, steps!.timed, steps!.bars]).toEqual([0, 0, 2]);
        const [without] = await sums([{ start: 100, dur: 10, kind: K.AllReduce }], 0, 5000);
        expect([without!.bytes, without!.timed, without!.bars]).toEqual([0, 0, 1]);
    });
    it("are by rank and function, by either, and of the lanes that were asked for", async () => {
        const { lanes } = trace.bundle;
        const bar = (start: number, kind: number): BarIn => ({ start, dur: 10, kind });
        const second = L.Ops + lanes.count / DEFAULTS.ranks;
        putBars(trace, L.Ops, [bar(100, K.AllReduce), bar(200, K.AllGather), bar(300, K.AllReduce)]);
        putBars(trace, second, [bar(100, K.AllReduce)]);
        const groups = [L.Ops, second].map((lane) => groupAbove(trace.bundle, lanes.group[lane]!, Level.Rank));
        const of = async (by: By, list = [L.Ops, second]) =>
            (await sumsOf(trace, list, 0, 1000, by, async () => true))!.map((s) => [s.group, s.kind, s.bars, s.time]);
        expect(await of("rank and function")).toEqual([
            [groups[0], K.AllReduce, 2, 20],
            [groups[0], K.AllGather, 1, 10],
            [groups[1], K.AllReduce, 1, 10],
        ]);
        expect(await of("function")).toEqual([
            [NONE, K.AllReduce, 3, 30],
            [NONE, K.AllGather, 1, 10],
        ]);
        expect(await of("rank")).toEqual([
            [groups[0], NONE, 3, 30],
            [groups[1], NONE, 1, 10],
        ]);
        expect(await of("rank", [second])).toEqual([[groups[1], NONE, 1, 10]]);
        expect(await sumsOf(trace, [L.Ops], 0, 1000, "rank", async () => false)).toBeUndefined();
    });
    it("go over the edges of blocks", async () => {
        const list = (from: number): BarIn[] => [0, 1, 2].map((i) => ({ start: from + 100 * i, dur: 100 }));
        putBars(trace, L.Ops, list(0), list(300), list(600));
        const [sum] = (await sumsOf(trace, [L.Ops], 250, 650, "rank", async () => true))!;
        expect([sum!.bars, sum!.time]).toEqual([5, 400]);
        const found = new Map<string, Sum>();
        addBlock(found, trace, await trace.blocks.load(trace.bundle.lanes.blockFrom[L.Ops]!), 7, 250, 650, "rank");
        expect([...found.values()].map((s) => [s.group, s.bars, s.time])).toEqual([[7, 1, 50]]);
    });
});

describe("facts", () => {
    const made = async (more: Partial<Bar>): Promise<Bar> => {
        const bar = (await trace.bar(trace.bundle.lanes.first[L.Ops]! + 3))!;
        return { ...bar, start: 1_000_000, end: 1_005_000, fade: 0, wait: 0, flags: 0, marks: [], ...more };
    };
    const of = async (more: Partial<Bar>): Promise<[string, string][]> => {
        const facts = factsOf(trace, await made(more));
        expect(facts[0]![0]).toBe("where");
        expect(facts[0]![1]).toMatch(/^host00 › .*rank 0/);
        expect(facts.at(-1)![0]).toBe("clock error");
        return facts.slice(1, -1);
    };
    const [START, END]: [string, string][] = [
        ["start", "0.001000000 s"],
        ["end", "0.001005000 s"],
    ];

    it("of a bar: start, end and duration", async () => {
        expect(await of({})).toEqual([START, END, ["duration", "5.00 us"]]);
    });
    it("of a bar with a wait: how long it waited, and how long the rest took", async () => {
        expect(await of({ wait: 2000 })).toEqual([
            START,
            END,
            ["duration", "5.00 us"],
            ["wait", "2.00 us for the last rank"],
            ["after the wait", "3.00 us"],
        ]);
        // One that had not ended either, but waited for a part of it only.
        expect((await of({ wait: 2000, flags: BarFlag.Open })).slice(1)).toEqual([
            ["end", "not recorded"],
            ["duration", "at least 5.00 us"],
            ["wait", "2.00 us for the last rank"],
            ["after the wait", "3.00 us"],
            ["note", expect.stringContaining("still running")],
        ]);
        expect((await of({ wait: 5000, flags: BarFlag.Open }))[3]).toEqual([
            "wait",
            expect.stringMatching(/^at least 5.00 us/),
        ]);
    });
    it("of a bar whose start or end is not known say so", async () => {
        expect((await of({ flags: BarFlag.EndBounded, fade: 3000 })).slice(1)).toEqual([
            ["end", expect.stringMatching(/between 0.001005000 s and 0.001008000 s$/)],
            ["duration", "5.00 us to 8.00 us"],
        ]);
        expect(await of({ flags: BarFlag.EndBounded, fade: 0 })).toEqual([START, END, ["duration", "5.00 us"]]);
        const late = await of({ flags: BarFlag.StartUnknown });
        expect(late[0]![1]).toMatch(/0.001000000 s or later$/);
        expect(late[2]).toEqual(["duration", "at most 5.00 us"]);
        expect(late[3]![0]).toBe("note");
    });
    it("of a loss have no duration", async () => {
        for (const flags of [BarFlag.Lost, BarFlag.NotRecorded])
            expect(await of({ flags })).toEqual([START, ["to", END[1]], ["note", expect.any(String)]]);
    });
    it("have a note for each flag, and the states of a step", async () => {
        const notes = new Set<string>();
        for (const flag of [
            BarFlag.Open,
            BarFlag.Lost,
            BarFlag.NotRecorded,
            BarFlag.Mismatch,
            BarFlag.Helped,
            BarFlag.LastArriver,
            BarFlag.StartUnknown,
        ]) {
            const note = (await of({ flags: flag })).filter(([name]) => name === "note");
            expect(note).toHaveLength(1);
            notes.add(note[0]![1]);
        }
        expect(notes.size).toBe(7);
        expect((await of({ kind: K.Step, marks: [0, 1500] })).slice(3)).toEqual([["flush", "after 1.50 us"]]);
    });
    it("have the clock error of the rank, where it is known", async () => {
        const { groups, lanes } = trace.bundle;
        const bar = await made({});
        const rank = groupAbove(trace.bundle, lanes.group[bar.lane]!, Level.Rank);
        (groups.error as Float32Array).fill(NaN);
        expect(factsOf(trace, bar).at(-1)![1]).toMatch(/not comparable/);
        (groups.error as Float32Array)[rank] = 1500;
        expect(factsOf(trace, bar).at(-1)).toEqual(["clock error", "1.50 us"]);
    });
    it("of an operation: sizes, ranks, waits, bandwidth", () => {
        const { ops, meta } = trace.bundle;
        const put = (column: ArrayLike<number>, value: number): void => void ((column as Float64Array)[2] = value);
        put(ops.bytes, 3 << 20);
        put(ops.ranks, 6);
        put(ops.longestWait, 40_000);
        put(ops.wait, 30_000);
        put(ops.transfer, 70_000);
        put(ops.busbw, 123);
        put(ops.error, 500);
        put(ops.flags, OpFlag.Complete);
        const facts = new Map(factsOfOp(trace, 2));
        expect(Object.fromEntries(facts)).toMatchObject({
            operation: trace.opName(2),
            size: "3.0 MiB",
            ranks: `6 of ${meta.comms[ops.comm[2]!]!.nranks}`,
            "longest wait": "40.0 us",
            "mean wait": "30.0 us",
            transfer: "70.0 us",
            "bus bandwidth": "123 GB/s",
        });
        expect(facts.has("note")).toBe(false);
        put(ops.error, 18_000); // nothing below twice the error is said
        const unsure = new Map(factsOfOp(trace, 2));
        expect([unsure.get("longest wait"), unsure.get("mean wait")]).toEqual(["40.0 us", "<36.0 us"]);
        const notes = (flags: number): number => (put(ops.flags, flags), factsOfOp(trace, 2).length - facts.size);
        expect([0, OpFlag.Complete].map(notes)).toEqual([1, 0]);
        for (const flag of [OpFlag.Tie, OpFlag.Mismatch, OpFlag.Violation, OpFlag.Double])
            expect(notes(OpFlag.Complete | flag)).toBe(1);
        expect(factsOfOp(trace, NONE)).toEqual([]);
        expect(factsOfOp(trace, ops.count)).toEqual([]);
    });
    it("of a row: where it is, and how many bars of each kind it has", () => {
        const { lanes, meta, groups } = trace.bundle;
        const session = new Session(trace);
        const row = session.layout.value.rows.find((r) => r.lanes.includes(L.Ops))!;
        const per = lanes.count / DEFAULTS.ranks;
        const bars = (kind: number): number =>
            [...Array(per).keys()].filter((l) => lanes.kind[l] === kind).reduce((n, l) => n + lanes.bars[l]!, 0);
        const facts = new Map(factsOfRow(trace, row));
        expect(facts.get("host")).toBe("host00");
        expect(facts.get("rank")).toMatch(/^rank 0/);
        expect(facts.get("communicators")).toMatch(/\(rank 0\)/);
        meta.rows.forEach((kind, i) => bars(i) > 0 && expect(facts.get(kind.label)).toBe(`${count(bars(i))} bars`));
        expect(groups.level[row.group]).toBe(Level.Rank);
    });
    it("of a flag: created or destroyed, when, and where", () => {
        const { flags } = trace.bundle;
        (flags.time as Float64Array)[0] = 1_500;
        (flags.kind as Uint8Array)[0] = 0;
        expect(factsOfFlag(trace, 0)[0]).toEqual(["created", "0.000001500 s"]);
        (flags.kind as Uint8Array)[0] = 1;
        expect(factsOfFlag(trace, 0)[0]![0]).toBe("destroyed");
        expect(factsOfFlag(trace, 0)[1]![1]).toMatch(/^host0/);
    });
});

describe("the matrix", () => {
    const cell = (rank: number, peer: number, bytes: number): Cell => ({
        ...{ rank, peer, bytes },
        ...{ messages: 1, net_ns: 0, credit_ns: 0, gpu_ns: 0 },
    });
    it("has a line per rank and a column per peer", () => {
        const grid = matrixOf([cell(1, 2, 7)], "bytes", 3, 3);
        expect([...grid].map((value) => (Number.isNaN(value) ? 0 : value))).toEqual([0, 0, 0, 0, 0, 7, 0, 0, 0]);
    });
    it("shows the largest where several fall onto a pixel", () => {
        for (const cells of [
            [cell(0, 1, 5), cell(1, 0, 9)],
            [cell(0, 1, 9), cell(1, 0, 5)],
        ])
            expect([...matrixOf(cells, "bytes", 2, 1)]).toEqual([9]);
    });
});

describe("operations", () => {
    beforeEach(() => {
        const size = trace.bundle.ops.bytes as Float64Array;
        size.fill(5);
        [size[0], size[1], size[2], size[3]] = [2 ** 20, NaN, 2 ** 20 + 1, 1000];
    });
    it("are compared as their filter says", () => {
        const { count } = trace.bundle.ops;
        const first = (filter: string): number[] => [...filterOps(trace, filter)].filter((op) => op < 4);
        expect(first("size>=1M")).toEqual([0, 2]);
        expect(first("size>1M")).toEqual([2]);
        expect(first("size=1M")).toEqual([0]);
        expect(first("size<=1000")).toEqual([3]);
        expect(first("size<1000")).toEqual([]);
        expect(filterOps(trace, "size<1000")).toHaveLength(count - 4);
    });
    it("without a number come last, whichever way they are sorted", () => {
        const list = (): Uint32Array => Uint32Array.from([3, 1, 2, 0]);
        expect([...sortOps(trace, list(), "bytes", true)]).toEqual([2, 0, 3, 1]);
        expect([...sortOps(trace, list(), "bytes", false)]).toEqual([3, 0, 2, 1]);
    });
});

describe("words for numbers", () => {
    it("have their units", () => {
        expect([0, 1023, 1024, 1536, 150 * 1024, 5 * 2 ** 30, NaN].map(bytes)).toEqual([
            "0 B",
            "1023 B",
            "1.0 KiB",
            "1.5 KiB",
            "150 KiB",
            "5.0 GiB",
            "?",
        ]);
        expect([0, 999, 1000, 1234567].map(count)).toEqual(["0", "999", "1,000", "1,234,567"]);
        const { strings } = trace.bundle;
        const shown = (unit?: string): string => argument(2048, { label: "x", unit } as never, strings);
        expect([shown("ns"), shown("bytes"), shown("hex"), shown("time"), shown()]).toEqual([
            duration(2048),
            "2.0 KiB",
            "0x800",
            "0.000002048 s",
            "2048",
        ]);
        expect(argument(255n, { label: "x", unit: "hex" }, strings)).toBe("0xff");
    });
});

describe("a bar as JSON", () => {
    const json = async (more: Partial<Bar>): Promise<Record<string, unknown>> => {
        const bar = (await trace.bar(trace.bundle.lanes.first[L.Ops]! + 3))!;
        const given = { ...bar, start: 1000, end: 5000, fade: 0, wait: 0, flags: 0, ...more };
        return JSON.parse(await barAsJson(trace, given)) as Record<string, unknown>;
    };
    it("has its times, and null for what is not known", async () => {
        expect(await json({})).toMatchObject({ start_ns: 1000, end_ns: 5000, wait_ns: null, flags: [] });
        expect(await json({ wait: 700, flags: BarFlag.LastArriver })).toMatchObject({
            wait_ns: 700,
            flags: ["last_arriver"],
        });
        expect(await json({ flags: BarFlag.EndBounded, fade: 200 })).toMatchObject({
            end_ns: null,
            end_after_ns: 5000,
            end_before_ns: 5200,
        });
        expect(await json({ flags: BarFlag.Open | BarFlag.StartUnknown })).toMatchObject({
            start_ns: null,
            end_ns: null,
            flags: ["open", "start_unknown"],
        });
    });
    it("has the numbers of its operation", async () => {
        const { ops } = trace.bundle;
        const { op } = (await trace.bar(trace.bundle.lanes.first[L.Ops]! + 3))!;
        (ops.transfer as Float64Array)[op] = NaN;
        expect((await json({})).operation).toMatchObject({
            op: `0x${ops.id[op]!.toString(16)}`,
            bytes: ops.bytes[op],
            longest_wait_ns: ops.longestWait[op],
            mean_wait_ns: ops.wait[op],
            transfer_ns: null,
        });
        expect((await json({ op: NONE })).operation).toBeNull();
    });
});
