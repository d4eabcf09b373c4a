// What a user does: marks, finding rows, menus, sums of a span, hidden rows, and colours that all can tell apart.

import { beforeAll, describe, expect, it } from "vitest";
import { DEFAULTS, Job, slotKind, SlotKind } from "../dev/shape";
import type { Trace } from "../src/data/trace";
import { NONE } from "../src/data/layout";
import { Level } from "../src/data/bundle";
import { readHash, writeHash } from "../src/state/hash";
import { addMark, MOST_MARKS, readMarks, removeNearest, writeMarks, type Mark } from "../src/state/marks";
import { Session } from "../src/state/session";
import { ACTIONS, actionFor, menuActions } from "../src/timeline/actions";
import { barAsJson } from "../src/timeline/copy";
import { firstOpen, layoutRows, type LayoutOptions } from "../src/scene/layout";
import { grip } from "../src/timeline/minimap";
import { DARK, LIGHT, contrast, css, kindColours, mix, NAMED, rgb, textOn, type Rgb } from "../src/scene/palette";
import { findRows } from "../src/timeline/rows";
import { longDuration, tickBase, tickWords } from "../src/timeline/ruler";
import { commTree } from "../src/panels/comms";
import { heatPixels, hostsOf, rankGroups, type Heat } from "../src/panels/heat";
import { matrixOf, pairCells } from "../src/panels/pairs";
import { sumsOf } from "../src/panels/sums";
import { byCost, worstBar } from "../src/panels/worst";
import { openTrace } from "./traces";

let trace: Trace;
let session: Session;
const job = new Job(DEFAULTS);

beforeAll(async () => {
    trace = await openTrace(DEFAULTS);
    session = new Session(trace);
});

describe("marks", () => {
    const kept = (t0: number, t1 = t0): Mark => ({ t0, t1, kept: true });
    it("are one passing one and any that are kept", () => {
        let marks = addMark([], { t0: 5, t1: 9, kept: false });
        marks = addMark(marks, kept(1));
        marks = addMark(marks, { t0: 7, t1: 7, kept: false });
        expect(marks).toEqual([kept(1), { t0: 7, t1: 7, kept: false }]);
        expect(addMark(marks, kept(7))).toEqual([kept(1), kept(7)]);
        let many: Mark[] = [];
        for (let i = 0; i < 100; i++) many = addMark(many, kept(i));
        expect(many).toHaveLength(MOST_MARKS);
    });
    it("go one by one, the nearest first", () => {
        expect(removeNearest([kept(1), kept(10, 20), kept(30)], 22)).toEqual([kept(1), kept(30)]);
        expect(removeNearest([], 5)).toEqual([]);
    });
    it("are in the address, and what is no mark is left out", () => {
        const marks = [kept(1.5, 2), { t0: -3, t1: 7, kept: false }];
        expect(readMarks(writeMarks(marks))).toEqual(marks);
        expect(readMarks("5:1,x:y,3:4:z,1:2<b>,7:8")).toEqual([{ t0: 7, t1: 8, kept: false }]);
        const place = { marks, hiddenLanes: [4], hiddenGroups: [2], only: [3, 1], name: "a & b", panel: "heat" };
        expect(readHash(writeHash(place))).toEqual(place);
    });
});

describe("rows", () => {
    it("are found by words, whole ones first", () => {
        const found = findRows(trace.bundle, "rank 1");
        expect(found[0]!.title).toContain("rank 1 ");
        expect(found[0]!.lane).toBe(NONE);
        expect(findRows(trace.bundle, "RANK 5 channels").every((row) => /rank 5 .*channels/.test(row.title))).toBe(
            true,
        );
        expect(findRows(trace.bundle, "rank 5 channels").length).toBeGreaterThan(0);
        expect(findRows(trace.bundle, "no such row")).toEqual([]);
        expect(findRows(trace.bundle, "", 7)).toHaveLength(7);
    });
    const options = (more: Partial<LayoutOptions>): LayoutOptions => ({
        rowsOn: trace.bundle.meta.rows.map((row) => row.on),
        open: firstOpen(trace.bundle),
        pinned: [],
        only: null,
        ...more,
    });
    const ranks = () =>
        [...Array(trace.bundle.groups.count).keys()].filter((g) => trace.bundle.groups.level[g] === Level.Rank);
    it("that are folded away have one that stands for them", () => {
        const layout = layoutRows(trace.bundle, options({}));
        for (let lane = 0; lane < trace.bundle.lanes.count; lane++) {
            const row = layout.rows[layout.rowOfLane[lane]!]!;
            expect(layout.standsFor[lane] === 0).toBe(row.lanes.includes(lane));
        }
    });
    it("that are hidden leave the row above, and ranks that are hidden their host", () => {
        const rank = ranks()[2]!;
        const layout = layoutRows(trace.bundle, options({ hiddenGroups: new Set([rank]) }));
        const lane = trace.bundle.groups.laneFrom[rank]!;
        expect(layout.rows.filter((row) => row.open === false)).toHaveLength(7);
        expect(layout.standsFor[lane]).toBe(1);
        expect(trace.bundle.groups.level[layout.rows[layout.rowOfLane[lane]!]!.group]).toBe(Level.Host);
    });
    it("of chosen ranks come in the order of the choice", () => {
        const only = [ranks()[5]!, ranks()[0]!];
        const layout = layoutRows(trace.bundle, options({ only: new Set(only) }));
        expect(layout.rows.map((row) => row.group)).toEqual(only);
        expect(layout.rows[0]!.context).toContain("host");
    });
    it("are shown by a jump whatever hides them", async () => {
        const lane = [...Array(trace.bundle.lanes.count).keys()].find(
            (l) => trace.bundle.meta.rows[trace.bundle.lanes.kind[l]!]!.id === "steps",
        )!;
        session.hiddenLanes.value = new Set([lane]);
        session.showOnly([ranks()[3]!]);
        await session.jump(trace.bundle.lanes.first[lane]!);
        expect(session.layout.value.standsFor[lane]).toBe(0);
        expect(session.hiddenLanes.value.size).toBe(0);
        expect(session.only.value).toBeNull();
        await session.select(null);
    });
});

describe("actions", () => {
    it("of the menu come from the table, for what is there", () => {
        const all = menuActions({ bar: {}, row: {} }).map((action) => action.id);
        for (const id of ["fit", "pin", "hide", "copy", "same", "only"]) expect(all).toContain(id);
        expect(menuActions({ bar: null, row: null }).every((action) => action.menu!.on === "time")).toBe(true);
    });
    it("have keys with modifiers, and no key of the browser besides", () => {
        expect(actionFor({ code: "KeyP", key: "p", ctrlKey: true })?.id).toBe("find");
        expect(actionFor({ code: "KeyP", key: "p" })?.id).toBe("pin");
        expect(actionFor({ code: "KeyM", key: "M", shiftKey: true })?.id).toBe("keep");
        expect(actionFor({ code: "KeyN", key: "N", shiftKey: true })?.id).toBe("peer");
        expect(actionFor({ code: "KeyW", key: "w", ctrlKey: true })).toBeUndefined();
        expect(ACTIONS.every((action) => action.shown !== "" && action.text !== "")).toBe(true);
    });
    it("copy a bar with all that is known of it", async () => {
        const lane = [...Array(trace.bundle.lanes.count).keys()].find(
            (l) => trace.bundle.meta.rows[trace.bundle.lanes.kind[l]!]!.id === "ops",
        )!;
        const bar = (await trace.bar(trace.bundle.lanes.first[lane]!))!;
        const told = JSON.parse(await barAsJson(trace, bar)) as Record<string, unknown>;
        expect(told).toMatchObject({
            name: "AllReduce",
            host: "host00",
            start_ns: bar.start,
            communicator: "default_pg",
        });
        expect(told.operation).toMatchObject({ bytes: trace.bundle.ops.bytes[bar.op] });
    });
    it("of the strip take hold of its edges before its middle", () => {
        expect([99, 150, 203, 300].map((x) => grip(x, 100, 200))).toEqual(["left", "window", "right", "new"]);
        expect(grip(101, 100, 101)).toBe("right");
        expect([93, 94, 206, 207].map((x) => grip(x, 100, 200))).toEqual(["new", "left", "right", "new"]);
    });
});

describe("sums of a span", () => {
    it("count what lies in it, and bytes of what is whole in it", async () => {
        const { lanes, meta, ops } = trace.bundle;
        const lane = [...Array(lanes.count).keys()].find((l) => meta.rows[lanes.kind[l]!]!.id === "ops")!;
        const first = (await trace.bar(lanes.first[lane]!))!;
        const second = (await trace.bar(lanes.first[lane]! + 1))!;
        const t0 = first.start;
        const t1 = (second.start + second.end) / 2;
        const sums = (await sumsOf(trace, [lane], t0, t1, "function", async () => true))!;
        expect(sums).toHaveLength(1);
        expect(sums[0]!.bars).toBe(2);
        expect(sums[0]!.time).toBeCloseTo(first.end - first.start + (t1 - second.start), 3);
        expect(sums[0]!.bytes).toBe(ops.bytes[first.op]);
        expect(sums[0]!.bandwidth / sums[0]!.timed).toBeCloseTo(ops.busbw[first.op]!, 3);
    });
    it("are by rank, by function, or both", async () => {
        const { lanes, meta } = trace.bundle;
        const all = [...Array(lanes.count).keys()].filter((l) => meta.rows[lanes.kind[l]!]!.id === "ops");
        const of = async (by: "rank" | "function" | "rank and function") =>
            (await sumsOf(trace, all, 0, trace.bundle.span, by, async () => true))!;
        const total = (list: { time: number }[]) => list.reduce((sum, s) => sum + s.time, 0);
        const [ranks, functions, both] = [await of("rank"), await of("function"), await of("rank and function")];
        expect(ranks).toHaveLength(DEFAULTS.ranks);
        expect(both.length).toBeGreaterThan(functions.length);
        expect(total(ranks)).toBeCloseTo(total(functions), 0);
        expect(total(ranks)).toBeCloseTo(total(both), 0);
        expect(await sumsOf(trace, all, 0, 1e9, "rank", async () => false)).toBeUndefined();
    });
});

describe("panels", () => {
    it("lead from the straggler to the worst operation in which it was last", async () => {
        const bar = (await trace.bar(await worstBar(trace, { scope: "rank", rank: DEFAULTS.slowRank, host: null })))!;
        expect(session.rankOf(bar.bar)).toBe(rankGroups(trace)[DEFAULTS.slowRank]);
        const { ops } = trace.bundle;
        const cost = (op: number) => ops.wait[op]! * ops.nparts[op]!;
        expect(cost(byCost(trace)[0]!)).toBeGreaterThanOrEqual(cost(byCost(trace)[1]!));
        expect(await worstBar(trace, { scope: "rank", rank: 4711, host: null })).toBe(NONE);
    });
    it("mark hosts, and lose no rank of thousands in the heat map", () => {
        expect(hostsOf(trace, rankGroups(trace)).map((h) => [h.name, h.from, h.to])).toEqual([
            ["host00", 0, 4],
            ["host01", 4, 8],
        ]);
        const mean = new Float32Array(2048).fill(1);
        mean[1234] = 100;
        const heat = { ranks: 2048, columns: 1, mean, most: 100, groups: [], opFrom: 0, opTo: 1, t0: 0, t1: 1 } as Heat;
        const pixels = heatPixels(heat, 256);
        const bright = [...Array(256).keys()].filter((y) => pixels[y * 4]! > 200);
        expect(bright).toEqual([Math.floor((1234 * 256) / 2048)]);
    });
    it("sum up who sent what to whom", () => {
        const cells = pairCells(trace);
        expect(cells).toHaveLength(DEFAULTS.ranks);
        const rings = [...Array(job.slots).keys()].filter((slot) => slotKind(slot) === SlotKind.Ring).length;
        expect(cells.every((cell) => cell.peer === (cell.rank + 1) % DEFAULTS.ranks && cell.messages === rings)).toBe(
            true,
        );
        const grid = matrixOf(cells, "messages", DEFAULTS.ranks, 4);
        expect(grid[0 * 4 + 0]).toBe(rings);
        expect(grid[0 * 4 + 2]).toBeNaN();
    });
    it("show communicators under their parents, also when a file goes in circles", () => {
        const comm = (id: string, parent: string | null) =>
            ({ comm: id, parent: parent === null ? null : { comm: parent, count: 0, color: 0 } }) as never;
        const tree = commTree([comm("a", null), comm("b", "a"), comm("c", "c"), comm("d", "gone")]);
        expect(tree.get(null)!.map((c) => c.comm)).toEqual(["a", "c", "d"]);
        expect(tree.get("a")!.map((c) => c.comm)).toEqual(["b"]);
    });
});

describe("times on the axis", () => {
    it("count from a base where they would be long", () => {
        expect(tickBase(0, 4e8, 1e8)).toBe(0);
        expect(tickWords(3e8, 1e8, 0)).toBe("300 ms");
        const base = tickBase(301_234_000, 301_300_000, 20_000);
        expect(base).toBe(301e6);
        expect(tickWords(301_240_000, 20_000, base)).toBe("+240 us");
        expect(longDuration(base)).toBe("301 ms");
        expect(longDuration(1_253_841)).toBe("1.25384 ms");
    });
});

// What people with colour blindness see, as linear maps of light (Machado, Oliveira and Fernandes 2009, full strength).
const SIGHT: Record<string, number[][]> = {
    usual: [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
    ],
    protanopia: [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    deuteranopia: [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    tritanopia: [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
};

/** CIELAB of a colour as it is seen. */
function seen(colour: Rgb, sight: number[][]): number[] {
    const light = colour.map((v) => (v <= 10 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    const [r, g, b] = sight.map((row) =>
        Math.min(
            1,
            Math.max(
                0,
                row.reduce((sum, k, i) => sum + k * light[i]!, 0),
            ),
        ),
    );
    const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
    const x = f((0.4124 * r! + 0.3576 * g! + 0.1805 * b!) / 0.95047);
    const y = f(0.2126 * r! + 0.7152 * g! + 0.0722 * b!);
    const z = f((0.0193 * r! + 0.1192 * g! + 0.9505 * b!) / 1.08883);
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

describe("colours", () => {
    const functions = [
        "AllReduce",
        "AllGather",
        "ReduceScatter",
        "Broadcast",
        "Reduce",
        "AlltoAll",
        "Gather",
        "Scatter",
    ];
    const all = [...functions, "Send", "Recv"];
    const themes = [LIGHT, DARK];
    const coloursOf = (dark: boolean) =>
        kindColours(
            all.map((colour) => ({ id: colour, label: colour, row: 0, colour })),
            dark ? DARK : LIGHT,
        );
    it("of any two functions are told apart by all, on both grounds", () => {
        for (const theme of themes)
            for (const [name, sight] of Object.entries(SIGHT)) {
                const colours = coloursOf(theme.dark).map((colour) => seen(colour, sight));
                const ground = seen(rgb(theme.background), sight);
                for (let i = 0; i < all.length; i++) {
                    const far = (a: number[], b: number[]) => Math.hypot(...a.map((v, k) => v - b[k]!));
                    expect(far(colours[i]!, ground), `${name}: ${all[i]} and the ground`).toBeGreaterThan(20);
                    for (let j = i + 1; j < all.length; j++)
                        // 10 is seen at once side by side; 2.3 is just noticed.
                        expect(far(colours[i]!, colours[j]!), `${name}: ${all[i]}, ${all[j]}`).toBeGreaterThan(12);
                }
            }
    });
    it("of text are readable: WCAG AA", () => {
        for (const theme of themes) {
            for (const ground of [theme.background, theme.row, theme.heading])
                for (const text of [theme.text, theme.dim])
                    expect(contrast(rgb(text), rgb(ground)), `${text} on ${ground}`).toBeGreaterThan(4.5);
            for (const line of [theme.relation, theme.sameOp, theme.arrow, theme.mark])
                expect(contrast(rgb(line), rgb(theme.background)), line).toBeGreaterThan(3);
            for (const [word, colour] of Object.entries(NAMED)) {
                const base = theme.dark ? mix(rgb(colour), [255, 255, 255], 0.16) : rgb(colour);
                expect(contrast(base, rgb(textOn(base, theme))), word).toBeGreaterThan(4.5);
            }
        }
        expect(css([1, 2, 3])).toBe("rgb(1,2,3)");
    });
});
