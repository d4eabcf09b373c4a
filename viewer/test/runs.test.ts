// Two runs above each other: which rows are whose, and how they are aligned; and what the program writes of a replayed
// run, against the trace that it writes of the same replay.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { Level } from "../src/data/bundle";
import { groupAbove } from "../src/data/groups";
import type { Run } from "../src/data/meta";
import type { Trace } from "../src/data/trace";
import { Runs } from "../src/scene/runs";
import { readHash, writeHash } from "../src/state/hash";
import { Session } from "../src/state/session";
import { replayOf } from "../src/panels/runs";
import { inFolder, openPage, program, run } from "./program";
import { openTrace } from "./traces";

const TITLES: [string, string] = ["recorded", "replayed without rank 3's lateness"];

/** The synthetic run cut in two: its second host is the second run. */
async function twoRuns(steps: [number, number][][]): Promise<Trace> {
    const trace = await openTrace({ ranks: 16 });
    const hosts = [...trace.bundle.groups.level].flatMap((level, g) => (level === Level.Host ? [g] : []));
    const of = (i: number): Run => ({ title: TITLES[i]!, group: hosts[i]!, begin_ns: "0", steps: steps[i]! });
    trace.bundle.meta.runs = [of(0), of(1)];
    return trace;
}

describe("two runs", () => {
    const STEPS: [number, number][][] = [
        [
            [0, 1000],
            [1, 2000],
            [2, 3000],
        ],
        [
            [1, 1700],
            [2, 2400],
            [3, 3100],
        ],
    ];
    it("own the groups below their own", async () => {
        const trace = await twoRuns(STEPS);
        const runs = new Runs(trace.bundle);
        const second = trace.bundle.meta.runs![1]!.group;
        for (let g = 0; g < trace.bundle.groups.count; g++) expect(runs.ofGroup(g)).toBe(g < second ? 0 : 1);
    });
    it("are aligned at a step that both have, and at no other", async () => {
        const runs = new Runs((await twoRuns(STEPS)).bundle);
        expect(runs.steps).toEqual([1, 2]);
        expect(runs.shifts(null)).toEqual([0, 0]);
        expect(runs.shifts(1)).toEqual([0, 300]);
        expect(runs.shifts(2)).toEqual([0, 600]);
        expect(runs.shifts(3)).toEqual([0, 0]);
        expect([0, 1999, 2000, 2999, 3000, 1e9].map((time) => runs.stepAt(time))).toEqual([1, 1, 1, 1, 2, 2]);
    });
    it("of which there is one are not moved", async () => {
        const session = new Session(await openTrace());
        expect([session.shift(5), session.shiftOf(3), session.shifts.value.length]).toEqual([0, 0, 0]);
    });
    it("move what is drawn of the lower one", async () => {
        const trace = await twoRuns(STEPS);
        const session = new Session(trace);
        session.alignAt(2);
        const lower = trace.bundle.groups.laneFrom[trace.bundle.meta.runs![1]!.group]!;
        expect([session.shiftOf(0), session.shiftOf(lower)]).toEqual([0, 600]);
        const bar = (await trace.bar(trace.bundle.lanes.first[lower]!))!;
        const view = session.around(bar, 0);
        expect((view.t0 + view.t1) / 2).toBeCloseTo((bar.start + bar.end + bar.fade) / 2 + 600, 3);
        expect(writeHash(session.place())).toContain("align=2");
    });
    it("keep their step in the address", () => {
        expect(readHash(writeHash({ align: 12 })).align).toBe(12);
        expect(readHash("#align=-1").align).toBeUndefined();
    });
});

it("the command of a replay is that of its sentence", () => {
    expect(replayOf("Rank 3 is late (`ringscope whatif --take-out 'rank 3'`).")).toBe("whatif --take-out 'rank 3'");
    expect(replayOf("Moves (`ringscope whatif --take-out sporadic`).")).toBe("whatif --take-out sporadic");
    expect(replayOf("See `ringscope report --json | jq .slow_links`.")).toBe("");
});

interface Slice {
    ph: string;
    pid: number;
    ts: number;
    dur: number;
}

describe.skipIf(!program)("a replayed run", () => {
    let trace: Trace;
    let slices: Slice[];
    beforeAll(async () => {
        await inFolder(async (folder) => {
            const [rec, page, json] = ["rec", "out.html", "out.json"].map((name) => join(folder, name)) as string[];
            run(["gen", "--no-truth", "-w", "tpdp", "--slow", "3:500", "--steps", "12", "-o", rec!]);
            for (const out of [page!, json!]) run(["whatif", "--take-out", "rank 3", "-o", out, rec!]);
            const { traceEvents } = JSON.parse(readFileSync(json!, "utf8")) as { traceEvents: Slice[] };
            slices = traceEvents.filter((event) => event.ph === "X");
            trace = await openPage(page!);
        });
    });
    it("is below the recorded one, with its title and the saving in words", () => {
        const { meta, groups, strings } = trace.bundle;
        expect(meta.runs!.map((one) => one.title)).toEqual(TITLES);
        for (const one of meta.runs!) {
            expect(groups.level[one.group]).toBe(Level.Run);
            expect(strings.get(groups.label[one.group]!)).toBe(one.title);
        }
        expect(meta.comparison).toHaveLength(1);
        expect(meta.comparison![0]).toMatch(
            /^Without rank 3's lateness the run takes [\d.]+ ms \[[\d.]+ ms, [\d.]+ ms\] less \(\d+ %\): [\d.]+ ms instead of [\d.]+ ms\.$/,
        );
    });
    it("has the times of the trace of the same replay, in both runs", async () => {
        const { lanes, meta } = trace.bundle;
        const runs = new Runs(trace.bundle);
        const drawn: [number, number][][] = [[], []];
        for (let lane = 0; lane < lanes.count; lane++) {
            if (meta.rows[lanes.kind[lane]!]!.id !== "ops" && !/^op/.test(meta.rows[lanes.kind[lane]!]!.id)) continue;
            for (let i = 0; i < lanes.bars[lane]!; i++) {
                const bar = (await trace.bar(lanes.first[lane]! + i))!;
                if (bar.op < trace.bundle.ops.count)
                    drawn[runs.ofGroup(lanes.group[lane]!)]!.push([bar.start, bar.end - bar.start]);
            }
        }
        const zero = Math.min(...drawn[0]!.map(([start]) => start));
        const sorted = (list: [number, number][]) => list.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
        for (const pid of [1, 2]) {
            const wanted = sorted(
                slices.filter((one) => one.pid === pid).map((one) => [one.ts * 1000, one.dur * 1000]),
            );
            const got = sorted(drawn[pid - 1]!.map(([start, dur]) => [start - zero, dur]));
            expect(got.length).toBe(wanted.length);
            got.forEach(([start, dur], i) => {
                expect(Math.abs(start - wanted[i]![0])).toBeLessThan(0.6);
                expect(Math.abs(dur - wanted[i]![1])).toBeLessThan(0.6);
            });
        }
    });
    it("has as many operations as the recorded one, sorted by time with it, each with ranks of its own run", async () => {
        const { ops, members, groups } = trace.bundle;
        const runs = new Runs(trace.bundle);
        const count = [0, 0];
        for (let op = 0; op < ops.count; op++) {
            if (op > 0) expect(ops.first[op]).toBeGreaterThanOrEqual(ops.first[op - 1]!);
            const of = new Set((await trace.partsOf(op)).map((part) => runs.ofGroup(members.group[part.member]!)));
            expect(of.size).toBe(1);
            count[[...of][0]!]!++;
        }
        expect(count[0]).toBe(count[1]);
        for (let m = 0; m < members.count; m++)
            expect(groupAbove(trace.bundle, members.group[m]!, Level.Run)).toBe(
                trace.bundle.meta.runs![runs.ofGroup(members.group[m]!)]!.group,
            );
        expect(groups.count).toBeGreaterThan(0);
    });
    it("saves in every step that is replayed: its steps begin earlier, one after the other", () => {
        const runs = new Runs(trace.bundle);
        const saved = runs.steps.map((step) => runs.begin(0, step) - runs.begin(1, step));
        expect(saved.length).toBe(12);
        expect(saved[0]).toBeCloseTo(0, 0);
        for (let i = 2; i < saved.length; i++) expect(saved[i]! - saved[i - 1]!).toBeGreaterThan(300_000);
    });
});
