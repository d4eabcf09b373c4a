// Filters by expression that are kept, the last rank of operations, times of day, axes, and tooltips of six lines.

import { beforeEach, describe, expect, it } from "vitest";
import { DEFAULTS } from "../dev/shape";
import { NONE } from "../src/data/layout";
import { patternOf } from "../src/data/pattern";
import type { Trace } from "../src/data/trace";
import { rankTicks, timeTicks } from "../src/panels/axes";
import type { Fact } from "../src/panels/facts";
import { searchBars } from "../src/panels/find";
import { filterOps, sortOps } from "../src/panels/operations";
import { briefly } from "../src/panels/tooltip";
import { utc } from "../src/panels/words";
import { readHash, writeHash } from "../src/state/hash";
import { Session } from "../src/state/session";
import { clockWords, wallTime } from "../src/timeline/ruler";
import { DATA, program, view } from "./program";
import { openTrace } from "./traces";

let trace: Trace;
beforeEach(async () => {
    trace = await openTrace(DEFAULTS);
});

describe("a filter by expression", () => {
    const names = (filter: string): Set<string> =>
        new Set([...filterOps(trace, filter)].map((op) => trace.bundle.strings.get(trace.bundle.ops.func[op]!)));
    it("takes what matches it, in any case", () => {
        const all = names("");
        expect(all.size).toBeGreaterThan(2);
        expect(names("/^allreduce /")).toEqual(new Set(["AllReduce"]));
        expect(names("/^(allreduce|send) /")).toEqual(new Set(["AllReduce", "Send"].filter((name) => all.has(name))));
        expect(names("/^educe/")).toEqual(new Set());
        expect(names("/^(?!allreduce)/")).toEqual(new Set([...all].filter((name) => name !== "AllReduce")));
    });
    it("stands beside words and comparisons", () => {
        const both = filterOps(trace, "/^allreduce / ranks>=2");
        expect(both.length).toBe(filterOps(trace, "/^allreduce /").length);
        expect(filterOps(trace, "/^allreduce / ranks<2").length).toBe(0);
    });
    it("that cannot be read finds nothing, and says so", () => {
        expect(filterOps(trace, "/(/").length).toBe(0);
        expect(patternOf("/(/").error).not.toBe("");
        expect(patternOf(`/${"a".repeat(400)}/`).error).toBe("the regular expression is too long");
        expect(patternOf("/").error).toBe("");
    });
    it("finds bars in a search", async () => {
        const bars = async (text: string): Promise<number> => {
            let n = 0;
            await searchBars(
                trace,
                text,
                async () => true,
                ({ hits }) => (n = hits.bars.length),
            );
            return n;
        };
        expect(await bars("/allreduce/")).toBeGreaterThan(await bars("/^allreduce$/"));
        expect(await bars("/^allreduce$/")).toBeGreaterThan(0);
        expect(await bars("/^llreduce$/")).toBe(0);
    });
    it("is kept in the address, with the one that is in use", async () => {
        const session = new Session(trace);
        session.filter.value = "/^allreduce / wait>1ms";
        session.save("/^allreduce / wait>1ms");
        session.save("tie & so on");
        session.save("/a=b#c/");
        session.forget("tie & so on");
        const after = new Session(trace);
        await after.goTo(writeHash(session.place()));
        expect(after.filter.value).toBe("/^allreduce / wait>1ms");
        expect(after.saved.value).toEqual(["/^allreduce / wait>1ms", "/a=b#c/"]);
        for (let i = 0; i < 40; i++) session.save(`filter ${i}`);
        expect(session.saved.value).toHaveLength(12);
        expect(readHash("#saved=a&saved=b").saved).toEqual(["a", "b"]);
    });
});

it.skipIf(!program)("the last rank of an operation is that of its last part", async () => {
    const kineto = await view([`${DATA}/kineto`]);
    const { ops, members } = kineto.bundle;
    let known = 0;
    for (let op = 0; op < ops.count; op++) {
        const last = ops.lastPart[op]!;
        const part = (await kineto.partsOf(op)).find((one) => one.index === last);
        expect(ops.lastRank[op]).toBe(last === NONE ? -1 : members.globalRank[part!.member]);
        if (last !== NONE) known++;
    }
    expect(known).toBeGreaterThan(10);
    const found = filterOps(kineto, "last=2");
    expect(found.length).toBe([...Array(ops.count).keys()].filter((op) => ops.lastRank[op] === 2).length);
    const sorted = sortOps(kineto, filterOps(kineto, ""), "lastRank", true);
    expect(ops.lastRank[sorted[0]!]).toBe(Math.max(...(ops.lastRank as Int32Array)));
});

it("times of day have the digits of the axis", () => {
    const begin = wallTime("1795331372123456789")!;
    expect(new Date(1795331372123).toISOString()).toBe("2026-11-22T07:09:32.123Z");
    expect(clockWords(begin, 0, 1e9)).toBe("07:09:32");
    expect(clockWords(begin, 0, 5e6)).toBe("07:09:32.123");
    expect(clockWords(begin, 1e9, 2e3)).toBe("07:09:33.123456");
    expect(clockWords(begin, 11, 1)).toBe("07:09:32.123456800");
    expect(clockWords(begin, -123456789, 1)).toBe("07:09:32.000000000");
    expect(utc("1795331372123456789")).toBe("2026-11-22 07:09:32.123456 UTC");
    expect([wallTime("0"), wallTime("123456789"), utc("5000000000")]).toEqual([undefined, undefined, ""]);
});

it("axes label cells in their middle, and as many as there is room for", () => {
    expect(rankTicks(4, 16)).toEqual([0, 1, 2, 3].map((i) => ({ at: (i + 0.5) / 4, label: String(i) })));
    expect(rankTicks(512, 16).map((tick) => tick.label)).toEqual([
        "0",
        "50",
        "100",
        "150",
        "200",
        "250",
        "300",
        "350",
        "400",
        "450",
        "500",
    ]);
    const times = timeTicks(1.5e6, 11.5e6, 5);
    expect(times.map((tick) => tick.label)).toEqual(["0.002 s", "0.004 s", "0.006 s", "0.008 s", "0.010 s"]);
    expect(times[0]!.at).toBeCloseTo(0.05, 9);
});

it("a tooltip has six lines, with what one wants to know first", () => {
    const facts: Fact[] = [
        ["where", "host › rank 0"],
        ["start", "1 s"],
        ["end", "2 s"],
        ["duration", "1 s"],
        ["wait", "5 ms for the last rank"],
        ["after the wait", "1 ms"],
        ["note", "last rank to arrive"],
        ["note", "another"],
        ["clock error", "1 us"],
        ["size", "4 MiB"],
        ["bytes", "4 MiB"],
        ["bus bandwidth", "?"],
    ];
    expect(briefly(facts).map(([name]) => name)).toEqual(["where", "start", "duration", "wait", "note"]);
    expect(briefly(facts.slice(0, 4)).map(([name]) => name)).toEqual(["where", "start", "end", "duration"]);
    expect(briefly([["bus bandwidth", "?"]])).toEqual([]);
});
