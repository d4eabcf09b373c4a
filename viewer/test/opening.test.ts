// What is seen first, by values made by hand: order of the rows, window, and the rank to blame.

import { describe, expect, it } from "vitest";
import type { Hang, RowMark } from "../src/data/meta";
import type { Bundle } from "../src/data/bundle";
import { NONE } from "../src/data/layout";
import { layoutRows } from "../src/scene/layout";
import { shortDuration } from "../src/timeline/ruler";
import {
    awaited,
    culprits,
    firstSort,
    hangs,
    hasFigures,
    openingView,
    openWaits,
    operationsView,
    sortedRanks,
} from "../src/scene/opening";

interface Made {
    ranks: number;
    late?: number[];
    marks?: RowMark[];
    hang?: Hang;
    named?: number[];
    open?: [number, number];
}

/** Two hosts; the group of rank r is r + 1 on the first, r + 2 on the second. */
function bundleOf({ ranks, late = [], marks, hang, named, open }: Made): Bundle {
    const half = Math.ceil(ranks / 2);
    const level: number[] = [];
    const parent: number[] = [];
    const places: number[] = [];
    for (let host = 0; host < 2; host++) {
        const root = level.push(0) - 1;
        parent.push(NONE);
        for (let r = host * half; r < Math.min(ranks, (host + 1) * half); r++) {
            places.push(level.push(2) - 1);
            parent.push(root);
        }
    }
    const count = level.length;
    const zeros = new Uint32Array(count);
    const figure = new Float64Array(count).fill(NaN);
    places.forEach((g, r) => (figure[g] = late[r] ?? 0));
    return {
        span: 1000,
        meta: {
            title: "",
            begin_ns: "0",
            focus_ns: [100, 900],
            open_ns: open,
            kinds: [],
            rows: [],
            comms: [],
            clocks: [],
            marks,
            hang,
            report: { findings: named ? [{ ranks: named, named: true }] : [] },
        },
        strings: { get: (i: number) => `text ${i}` },
        groups: {
            count,
            parent,
            level,
            label: zeros,
            laneFrom: zeros,
            laneTo: zeros,
            error: zeros,
            figures: { late: figure, waited: new Float64Array(count), last: new Float64Array(count) },
        },
        lanes: { count: 0, group: [], kind: [], sub: [], label: [], bars: [] },
        members: {
            count: ranks,
            comm: zeros,
            rank: places.map((_, r) => r),
            globalRank: places.map((_, r) => r),
            group: places,
        },
    } as unknown as Bundle;
}

const rowsOf = (bundle: Bundle, order: number[] | null) =>
    layoutRows(bundle, { rowsOn: [], open: new Set([0, 1, 2, 3, 4, 5, 6]), pinned: [], only: null, order }).rows;

describe("the order of the rows", () => {
    it("is by rank up to 32 of them, and by lateness beyond", () => {
        expect(firstSort(bundleOf({ ranks: 32, late: [5] }))).toBe("rank");
        expect(firstSort(bundleOf({ ranks: 33, late: [5] }))).toBe("late");
        expect(firstSort(bundleOf({ ranks: 33 }))).toBe("rank"); // nothing to sort by
    });

    it("has the largest first, and equals by rank", () => {
        const bundle = bundleOf({ ranks: 4, late: [0, 7, 9, 7] });
        // Groups: host 0, ranks 1 and 2, host 3, ranks 4 and 5.
        expect(sortedRanks(bundle, "late")).toEqual([4, 2, 5, 1]);
        expect(sortedRanks(bundle, "rank")).toBeNull();
    });

    it("has those that are to blame for a hang before all others", () => {
        const marks = [{ group: 1, text: "did not join", from_ns: 5, culprit: 0 }];
        expect(sortedRanks(bundleOf({ ranks: 4, late: [0, 7, 9, 7], marks }), "late")).toEqual([1, 4, 2, 5]);
    });

    it("is what is drawn: one row a rank, without hosts", () => {
        const bundle = bundleOf({ ranks: 4, late: [0, 7, 9, 7] });
        expect(rowsOf(bundle, sortedRanks(bundle, "late")).map((row) => row.group)).toEqual([4, 2, 5, 1]);
        expect(rowsOf(bundle, null).map((row) => row.group)).toEqual([0, 1, 2, 3, 4, 5]);
    });
});

describe("the window", () => {
    it("is that of the bundle with a little room; else all operations", () => {
        const { t0, t1 } = openingView(bundleOf({ ranks: 2, open: [200, 300] }));
        expect([t0, t1]).toEqual([199, 301]);
        expect(openingView(bundleOf({ ranks: 2 }))).toEqual(operationsView(bundleOf({ ranks: 2 })));
    });
});

describe("a hang", () => {
    const hang = (verdict: string, ranks: (number | null)[], suspected = false): Hang => ({
        verdict,
        culprits: [{ ranks, verdict, suspected, evidence: "", advice: "", frames: [] }],
    });

    it("is any verdict but NONE and UNKNOWN", () => {
        for (const verdict of ["NONE", "UNKNOWN"]) expect(hangs(bundleOf({ ranks: 2, hang: { verdict } }))).toBe(false);
        expect(hangs(bundleOf({ ranks: 2 }))).toBe(false);
        expect(hangs(bundleOf({ ranks: 2, hang: hang("RANK_DEAD", [1]) }))).toBe(true);
    });

    it("names whom all wait for only where one rank did not come", () => {
        expect(awaited(bundleOf({ ranks: 2, hang: hang("NOT_JOINED", [1]) }))).toBe("rank 1");
        expect(awaited(bundleOf({ ranks: 2, hang: hang("NOT_JOINED", [1], true) }))).toBe("");
        expect(awaited(bundleOf({ ranks: 2, hang: hang("NOT_JOINED", [0, 1]) }))).toBe("");
        expect(awaited(bundleOf({ ranks: 2, hang: hang("MISMATCH", [1]) }))).toBe("");
        expect(awaited(bundleOf({ ranks: 2, hang: hang("NOT_JOINED", [null]) }))).toBe("");
    });

    it("is no waiting where a transfer that all entered does not move", () => {
        expect(openWaits(bundleOf({ ranks: 2, hang: hang("NOT_JOINED", [1]) }))).toBe(true);
        expect(openWaits(bundleOf({ ranks: 2, hang: hang("STALLED_STEP", [1]) }))).toBe(false);
        expect(openWaits(bundleOf({ ranks: 2, hang: hang("STALLED_STEP", [1], true) }))).toBe(true);
        expect(openWaits(bundleOf({ ranks: 2 }))).toBe(false);
    });

    it("blames its ranks before those that were late", () => {
        const marks = [
            { group: 1, text: "b", from_ns: 5, culprit: 1 },
            { group: 4, text: "a", from_ns: 5, culprit: 0 },
        ];
        expect(culprits(bundleOf({ ranks: 4, marks, named: [1] }))).toEqual([4, 1]);
        expect(culprits(bundleOf({ ranks: 4, named: [1] }))).toEqual([2]);
        expect(culprits(bundleOf({ ranks: 4, named: [9] }))).toEqual([]);
    });
});

describe("figures", () => {
    it("have two digits that count, rounded, and all of a hundred", () => {
        const pairs: [number, string][] = [
            [9_070_000, "9.1 ms"],
            [8_970_000, "9.0 ms"],
            [11_060_000, "11 ms"],
            [112_400_000, "112 ms"],
            [424_000, "424 us"],
            [1_130_000, "1.1 ms"],
        ];
        for (const [ns, words] of pairs) expect(shortDuration(ns)).toBe(words);
    });

    it("are there where a rank was late, or waited", () => {
        expect(hasFigures(bundleOf({ ranks: 2, late: [0, 3] }))).toBe(true);
        expect(hasFigures(bundleOf({ ranks: 2 }))).toBe(false);
    });
});
