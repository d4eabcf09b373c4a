// Counters over time against sums made by hand.

import { beforeEach, describe, expect, it } from "vitest";
import { DEFAULTS } from "../dev/shape";
import { Level } from "../src/data/bundle";
import { OpFlag, OpKind } from "../src/data/layout";
import type { Trace } from "../src/data/trace";
import { Counters, Integral, opsOfScope, scopesOf } from "../src/scene/counters";
import { openTrace } from "./traces";

let trace: Trace;
beforeEach(async () => {
    trace = await openTrace(DEFAULTS);
});

/** Gives the run these operations alone: last arrival, end, bytes, bus bandwidth, longest wait. */
function put(list: [number, number, number, number, number][]): void {
    const { ops } = trace.bundle;
    const set = (column: ArrayLike<number>, op: number, value: number) => ((column as Float64Array)[op] = value);
    for (let op = 0; op < ops.count; op++) {
        const given = list[op];
        set(ops.first, op, given ? given[0] - given[4] : NaN);
        if (!given) continue;
        [ops.last, ops.end, ops.bytes, ops.busbw, ops.longestWait].forEach((column, k) => set(column, op, given[k]!));
        set(ops.kind, op, OpKind.Collective);
        set(ops.flags, op, 0);
    }
}

const all = () => new Counters(trace.bundle, scopesOf(trace.bundle)[0]!, () => 0);

describe("counters", () => {
    it("are integrals: a pixel has the mean of what is in it", () => {
        const sum = new Integral([10, 15], [20, 30], [4, 2]);
        expect(sum.of(0, 40)).toBe(4 * 10 + 2 * 15);
        expect([sum.of(0, 10), sum.of(10, 12), sum.of(15, 20), sum.of(19, 21), sum.of(30, 99)]).toEqual([
            0, 8, 30, 8, 0,
        ]);
        expect(new Integral([], [], []).of(0, 1)).toBe(0);
    });
    it("add the bytes of what transfers at a time, and not of what waits", () => {
        put([
            [1000, 2000, 100, 10, 500],
            [1500, 2500, 60, 30, 0],
        ]);
        expect([...all().fold("bytes", 0, 3000, 6)]).toEqual([0, 0, 100, 160, 60, 0]);
        expect([...all().fold("bytes", 1000, 2000, 1)]).toEqual([130]);
    });
    it("show the mean bus bandwidth of what transfers, whatever the pixel", () => {
        put([
            [1000, 2000, 100, 10, 500],
            [1500, 2500, 60, 30, 0],
        ]);
        const rates = [...all().fold("busbw", 0, 3000, 6)];
        expect(rates).toEqual([0, 0, 10, 20, 30, 0]);
        expect(all().fold("busbw", 0, 3000, 1)[0]).toBeCloseTo(20, 9);
    });
    it("show the longest wait where the last rank came, and none below the clock error", () => {
        put([
            [1000, 2000, 100, 10, 500],
            [1100, 2500, 60, 30, 40],
            [2600, 2700, 60, 30, 7],
        ]);
        expect([...all().fold("late", 0, 3000, 3)]).toEqual([0, 500, 7]);
        const some = new Counters(trace.bundle, scopesOf(trace.bundle)[0]!, () => 50);
        expect([...some.fold("late", 0, 3000, 3)]).toEqual([0, 500, 0]);
    });
});

describe("what they are of", () => {
    it("the whole run, each host, each rank", () => {
        const { groups, strings } = trace.bundle;
        const of = (level: Level) => [...Array(groups.count).keys()].filter((g) => groups.level[g] === level).length;
        const scopes = scopesOf(trace.bundle);
        expect(scopes[0]!.label).toBe("whole run");
        expect(scopes[0]!.groups.size).toBe(of(Level.Rank));
        expect(scopes).toHaveLength(1 + (of(Level.Host) > 1 ? of(Level.Host) : 0) + of(Level.Rank));
        const rank = scopes[scopes.length - 1]!;
        expect(rank.label).toBe(strings.get(groups.label[[...rank.groups][0]!]!));
    });
    it("of a rank only what it takes part in: of pairs, its own", () => {
        const { ops, members } = trace.bundle;
        const scopes = scopesOf(trace.bundle);
        const rank = scopes[scopes.length - 1]!;
        const list = opsOfScope(trace.bundle, rank);
        const whole = opsOfScope(trace.bundle, scopes[0]!);
        expect(list.length).toBeGreaterThan(0);
        expect(list.length).toBeLessThan(whole.length);
        const mine = [...Array(members.count).keys()].filter((m) => rank.groups.has(members.group[m]!));
        for (const op of list) {
            expect(ops.flags[op]! & OpFlag.Inside).toBe(0);
            if (ops.kind[op] !== OpKind.Pair) continue;
            const own = mine.find((m) => members.comm[m] === ops.comm[op])!;
            expect([ops.src[op], ops.dst[op]]).toContain(members.rank[own]);
        }
    });
});
