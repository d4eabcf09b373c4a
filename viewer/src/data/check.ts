// What must hold between the tables of a bundle, so that nobody who uses them needs to look again: a bundle may be
// damaged, or made by someone else.

import type { BlockIndex, Groups, Lanes, Members } from "./bundle";
import { FormatError } from "./columns";
import { NONE } from "./layout";
import type { Meta, Run } from "./meta";

/** The span in ns; a run in which everything happens at once has one too. */
export function checkedSpan(span: number): number {
    if (!(span >= 0 && span < 2 ** 53)) throw new FormatError("the bundle has no span of time");
    return Math.max(1, span);
}

/** Buckets of a lane in the overview; FORMAT.md says how many there may be. */
export function checkedBuckets(buckets: number): number {
    if (buckets > 1 << 20) throw new FormatError(`an overview of ${buckets} buckets`);
    return buckets;
}

export function parseMeta(text: string): Meta {
    let meta: Partial<Meta> | null;
    try {
        meta = JSON.parse(text) as Partial<Meta> | null;
    } catch {
        throw new FormatError("the meta section is not JSON");
    }
    if (!meta || !Array.isArray(meta.kinds) || !Array.isArray(meta.rows))
        throw new FormatError("the meta section has no kinds and rows");
    return {
        ...meta,
        title: String(meta.title ?? ""),
        begin_ns: String(meta.begin_ns ?? "0"),
        kinds: meta.kinds,
        rows: meta.rows,
        comms: meta.comms ?? [],
        clocks: meta.clocks ?? [],
        report: meta.report ?? {},
        ...(Array.isArray(meta.runs) ? { runs: meta.runs.map(checkedRun) } : {}),
    };
}

function checkedRun(run: Partial<Run>): Run {
    const steps = Array.isArray(run.steps) ? run.steps : [];
    return {
        title: String(run.title ?? ""),
        group: Number(run.group ?? NONE),
        begin_ns: String(run.begin_ns ?? "0"),
        steps: steps.filter((step) => Array.isArray(step) && step.length === 2 && step.every(Number.isFinite)),
    };
}

export function checkPlaces(groups: Groups, lanes: Lanes, members: Members, meta: Meta): void {
    for (let g = 0; g < groups.count; g++) {
        if (groups.laneFrom[g]! > groups.laneTo[g]! || groups.laneTo[g]! > lanes.count)
            throw new FormatError(`group ${g} has lanes that are not there`);
        if (groups.parent[g] !== NONE && groups.parent[g]! >= g)
            throw new FormatError(`group ${g} comes before its parent`);
    }
    for (let lane = 0; lane < lanes.count; lane++)
        if (lanes.group[lane]! >= groups.count || lanes.kind[lane]! >= meta.rows.length)
            throw new FormatError(`lane ${lane} is of a group or kind that is not there`);
    for (let m = 0; m < members.count; m++)
        if (members.group[m] !== NONE && members.group[m]! >= groups.count)
            throw new FormatError(`member ${m} is of a group that is not there`);
}

/** Blocks follow each other without a gap, lane by lane, and hold as many bars as their lanes have. */
export function checkBlocks(lanes: Lanes, blocks: BlockIndex): void {
    for (let lane = 0; lane < lanes.count; lane++) {
        let bar = lanes.first[lane]!;
        for (let b = lanes.blockFrom[lane]!; b < lanes.blockFrom[lane + 1]!; b++) {
            if (blocks.first[b] !== bar) throw new FormatError(`the blocks of lane ${lane} have gaps`);
            bar += blocks.bars[b]!;
        }
        if (bar !== lanes.first[lane]! + lanes.bars[lane]!)
            throw new FormatError(`the lanes and blocks have different numbers of bars: lane ${lane}`);
    }
}
