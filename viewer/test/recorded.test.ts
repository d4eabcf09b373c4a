// What the program writes, as the page reads it, against what the program's own commands say of the same files. Needs a
// built program: RINGSCOPE names it.

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeBlock } from "../src/data/block";
import { NONE, OpFlag, OVERVIEW_LANES } from "../src/data/layout";
import { emptyOverview } from "../src/data/overview";
import { DATA, program, run, view } from "./program";
import type { Trace } from "../src/data/trace";
import { unzstd } from "../src/data/zstd";

/** Times exceed 2^53: they come as strings of digits. */
function parse(line: string): Record<string, unknown> {
    return JSON.parse(line.replace(/:(-?\d{15,})(?=[,}])/g, ':"$1"')) as Record<string, unknown>;
}

interface Rank {
    rank: number | null;
    start_ns: string | null;
    end_ns: string | null;
    wait_ns: number | null;
    launched_ns?: string | null;
    parts?: number;
}

interface Op {
    op: string;
    comm: string | null;
    func: string;
    kind: string;
    seq: number | null;
    bytes: number | null;
    start_ns: string | null;
    end_ns: string | null;
    transfer_ns: number | null;
    busbw_gbs: number | null;
    error_ns: number | null;
    longest_wait_ns: number | null;
    mean_wait_ns: number | null;
    fanout?: string | null;
    last_rank: number | null;
    tie: boolean;
    complete: boolean;
    dtype: string | null;
    ranks: Rank[];
}

const orNaN = (value: number | null) => value ?? NaN;

/** Every block of the bundle is what its index says, lanes are in order and do not overlap. Returns the bars. */
async function checkBars(trace: Trace): Promise<number> {
    const { bundle } = trace;
    const { lanes, blocks, groups, meta, strings, ops, span } = bundle;
    let bars = 0;
    let lane = -1;
    let before = -Infinity;
    for (let id = 0; id < blocks.count; id++) {
        expect(blocks.first[id]).toBe(bars);
        if (blocks.lane[id] !== lane) {
            lane = blocks.lane[id]!;
            before = -Infinity;
            expect(blocks.first[id]).toBe(lanes.first[lane]);
        }
        const packed = await bundle.source.bytes(bundle.barsAt + blocks.offset[id]!, blocks.stored[id]!);
        const raw = unzstd(packed, blocks.size[id]!);
        const block = decodeBlock(raw, blocks.first[id]!, blocks.bars[id]!, blocks.from[id]!);
        let to = 0;
        const wrong: string[] = [];
        for (let i = 0; i < block.count; i++) {
            const [start, end] = [block.start[i]!, block.end[i]! + (block.fade?.[i] ?? 0)];
            if (start < before || start < 0 || end < start || end > span)
                wrong.push(`bar ${bars + i}: ${start} ${end}`);
            before = block.end[i]!;
            to = Math.max(to, end);
            if (!meta.kinds[block.kind[i]!] || block.name[i]! >= strings.count || block.op[i]! > ops.count)
                wrong.push(`bar ${bars + i}: no such kind, name or operation`);
            if (block.parent && block.parent[i]! > bundle.bars) wrong.push(`bar ${bars + i}: no such parent`);
            if ((block.wait?.[i] ?? 0) > end - start) wrong.push(`bar ${bars + i} waits for longer than it lasts`);
        }
        expect(wrong).toEqual([]);
        expect(blocks.from[id]).toBe(block.start[0]);
        expect(blocks.to[id]).toBe(to);
        bars += block.count;
    }
    for (let i = 0; i < lanes.count; i++) {
        const group = lanes.group[i]!;
        expect(i).toBeGreaterThanOrEqual(groups.laneFrom[group]!);
        expect(i).toBeLessThan(groups.laneTo[group]!);
        expect(meta.rows[lanes.kind[i]!]).toBeDefined();
    }
    for (let g = 0; g < groups.count; g++) {
        const parent = groups.parent[g]!;
        if (parent === NONE) continue;
        expect(parent).toBeLessThan(g);
        expect(groups.laneFrom[g]).toBeGreaterThanOrEqual(groups.laneFrom[parent]!);
        expect(groups.laneTo[g]).toBeLessThanOrEqual(groups.laneTo[parent]!);
    }
    return bars;
}

/** Children of a bar are those that name it as their parent, and the other way round. */
async function checkRelations(trace: Trace): Promise<number> {
    const { bundle } = trace;
    let found = 0;
    let named = 0;
    for (let bar = 0; bar < bundle.bars; bar++) {
        const it = (await trace.bar(bar))!;
        if (it.parent !== NONE) named++;
        let last = -1;
        for (const edge of await trace.edges.leaving(bar, 1e9)) {
            expect(edge.to).toBeGreaterThanOrEqual(last);
            last = edge.to;
            const other = (await trace.bar(edge.to))!;
            expect(other).toBeDefined();
            if (edge.kind === 0) {
                expect(other.parent).toBe(bar);
                found++;
            }
        }
    }
    expect(found).toBe(named);
    return named;
}

/** Operations and what each rank did in them are those of `ops --json`. */
async function checkOperations(trace: Trace, inputs: string[]): Promise<number> {
    const { ops, strings, members, meta } = trace.bundle;
    const begin = BigInt(meta.begin_ns);
    const time = (text: string | null) => (text === null ? NaN : Number(BigInt(text) - begin));
    const all = new Map<bigint, Op>();
    for (const line of run(["ops", "--json", ...inputs]).split("\n"))
        if (line) {
            const op = parse(line) as unknown as Op;
            all.set(BigInt(op.op), op);
        }
    expect(ops.count).toBe(all.size);
    let before = -Infinity;
    for (let i = 0; i < ops.count; i++) {
        const op = all.get(ops.id[i]!)!;
        expect(op).toBeDefined();
        expect(strings.get(ops.func[i]!)).toBe(op.func);
        expect(meta.comms[ops.comm[i]!]!.comm).toBe(op.comm);
        expect(ops.seq[i]).toBe(op.seq ?? -1);
        expect(ops.bytes[i]).toBe(orNaN(op.bytes));
        expect(ops.first[i]).toBe(time(op.start_ns));
        expect(ops.end[i]).toBe(time(op.end_ns));
        expect(ops.transfer[i]).toBe(orNaN(op.transfer_ns));
        expect(ops.busbw[i]).toBe(Math.fround(orNaN(op.busbw_gbs)));
        expect(ops.error[i]).toBe(Math.fround(orNaN(op.error_ns)));
        expect(strings.get(ops.table.find("dtype")?.[i] ?? 0)).toBe(op.dtype ?? "");
        expect((ops.flags[i]! & OpFlag.Tie) !== 0).toBe(op.tie);
        expect((ops.flags[i]! & OpFlag.Inside) !== 0).toBe(typeof op.fanout === "string");
        expect(ops.wait[i]).toBe(orNaN(op.mean_wait_ns));
        expect(ops.longestWait[i]).toBe(orNaN(op.longest_wait_ns));
        expect((ops.flags[i]! & OpFlag.Complete) !== 0).toBe(op.complete);
        // Those without a start come last; the others in order.
        if (!Number.isNaN(ops.first[i]!)) expect(ops.first[i]).toBeGreaterThanOrEqual(before);
        before = Number.isNaN(ops.first[i]!) ? Infinity : ops.first[i]!;
        const parts = await trace.parts.list(ops.part[i]!, ops.part[i]! + ops.nparts[i]!);
        expect(parts.length).toBe(op.ranks.reduce((sum, r) => sum + (r.parts ?? 1), 0));
        expect(ops.ranks[i]).toBe(new Set(op.ranks.map((r) => r.rank)).size);
        const last = ops.lastPart[i]!;
        const lastRank = last === NONE ? null : members.rank[parts[last - ops.part[i]!]!.member];
        expect(lastRank).toBe(op.tie ? null : op.last_rank);
        if (op.kind === "fanout") continue; // ops --json tells its ranks, here are its sends and receives
        for (const [k, part] of parts.entries()) {
            const rank = op.ranks[k]!;
            expect(members.rank[part.member]).toBe(rank.rank ?? -1);
            expect(members.comm[part.member]).toBe(ops.comm[i]);
            expect(part.start).toBe(time(rank.start_ns));
            expect(part.end).toBe(time(rank.end_ns));
            expect(part.wait).toBe(Math.fround(orNaN(rank.wait_ns)));
            if (part.bar === NONE) continue;
            const bar = (await trace.bar(part.bar))!;
            expect(bar.start >= 0 && bar.end <= trace.bundle.span).toBe(true);
            if (!Number.isNaN(part.start)) expect(bar.start).toBe(part.start);
            const launched = meta.kinds[bar.kind]!.arguments?.findIndex((how) => how.label === "launched") ?? -1;
            if (launched >= 0 && rank.launched_ns !== null && rank.launched_ns !== undefined)
                expect((await trace.blocks.further(part.bar))[launched]).toBe(time(rank.launched_ns));
            if (!Number.isNaN(part.end) && part.end >= part.start && !(bar.flags & 1)) expect(bar.end).toBe(part.end);
        }
    }
    return ops.count;
}

/**
 * The page says of the run what `report` and `clocks` say: operations, ties, clock error, where time begins. Its report leaves
 * out the start-up, as `report` does; the timeline has all of it.
 */
function checkNumbers(trace: Trace, inputs: string[]): void {
    const { meta, ops } = trace.bundle;
    interface Said {
        t0_ns: string | number | null;
        clock_error_ns: number | null;
        operations: { count: number; compared: number; ties: number };
        steps: { left_out: string | null };
    }
    const report = parse(run(["report", "--json", ...inputs])) as unknown as Said;
    const said = parse(run(["report", "--json", "--warmup", "0", ...inputs])) as unknown as Said;
    expect(meta.begin_ns).toBe(String(said.t0_ns ?? 0));
    expect(meta.report.operations).toEqual(report.operations);
    expect(meta.report.steps?.left_out).toBe(report.steps.left_out);
    expect(meta.report.clock_error_ns).toBe(report.clock_error_ns);
    expect(trace.countOf()).toBe(said.operations.count);
    let ties = 0;
    for (let i = 0; i < ops.count; i++) if (ops.flags[i]! & OpFlag.Tie && !(ops.flags[i]! & OpFlag.Inside)) ties++;
    expect(ties).toBe(said.operations.ties);
    for (const clock of run(["clocks", "--json", ...inputs]).split("\n"))
        if (clock) expect(parse(clock)["compare_error_ns"]).toBe(said.clock_error_ns);
}

/** Of each lane the overview shows something where, and only where, there is a bar. */
async function checkOverview(trace: Trace): Promise<void> {
    const { lanes } = trace.bundle;
    const into = emptyOverview();
    for (let lane = 0; lane < lanes.count; lane++) {
        await Promise.resolve();
        expect(trace.overview.get(lane, into)).toBe(true);
        expect(into.base).toBe((lane % OVERVIEW_LANES) * into.buckets);
        const covered = new Uint8Array(into.buckets);
        for (let i = 0; i < lanes.bars[lane]!; i++) {
            const bar = (await trace.bar(lanes.first[lane]! + i))!;
            const last = Math.min(into.buckets - 1, Math.floor((bar.end + bar.fade) / into.width));
            for (let b = Math.min(into.buckets - 1, Math.floor(bar.start / into.width)); b <= last; b++) covered[b] = 1;
            expect(into.busy[into.base + Math.min(into.buckets - 1, Math.floor(bar.start / into.width))]).not.toBe(0);
        }
        for (let b = 0; b < into.buckets; b++) if (into.busy[into.base + b]) expect(covered[b]).toBe(1);
    }
}

const CASES: { name: string; inputs: string[]; options?: string[]; relations?: boolean }[] = [
    { name: "a recording of four GPUs", inputs: ["h200-mix"], options: ["--level", "all"], relations: true },
    { name: "a training step", inputs: ["h200-ddp"] },
    { name: "a recording with what PyTorch saw", inputs: ["h200-overlay/rec", "h200-overlay/kineto"] },
    { name: "Kineto", inputs: ["kineto"], relations: true },
    { name: "dumps of NCCL's example profiler", inputs: ["example/ring4"], relations: true },
    { name: "several devices in one process", inputs: ["example/oneprocess4"], relations: true },
    { name: "the Flight Recorder", inputs: ["flight/ddp4"], relations: true },
    { name: "Nsight Systems", inputs: ["nsys/nsys_rank0.sqlite"], relations: true },
    { name: "nvprof", inputs: ["nvprof/nvprof_gpu_trace.csv"], relations: true },
];

describe.skipIf(!program)("what the program writes", () => {
    for (const { name, inputs, options, relations } of CASES)
        it(
            name,
            async () => {
                const paths = inputs.map((path) => join(DATA, path));
                const trace = await view(paths, options);
                expect(await checkBars(trace)).toBe(trace.bundle.bars);
                expect(trace.bundle.bars).toBeGreaterThan(0);
                expect(await checkOperations(trace, paths)).toBeGreaterThan(0);
                checkNumbers(trace, paths);
                if (!relations) return;
                await checkRelations(trace);
                await checkOverview(trace);
            },
            30_000,
        );

    it("leaves out what is filtered, and keeps what is not", async () => {
        const inputs = [join(DATA, "h200-mix")];
        const [all, some] = [await view(inputs), await view(inputs, ["--func", "AllReduce", "--rows", "operations"])];
        const funcs = (trace: Trace) => new Set(Array.from(trace.bundle.ops.func, (f) => trace.bundle.strings.get(f)));
        expect(funcs(all).size).toBeGreaterThan(1);
        expect([...funcs(some)]).toEqual(["AllReduce"]);
        const rows = new Set(Array.from(some.bundle.lanes.kind, (k) => some.bundle.meta.rows[k]!.id));
        expect([...rows]).toEqual(["operations"]);
        await checkBars(some);
    });
});
