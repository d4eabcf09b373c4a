// What is between the operations on the one row of a rank: time outside NCCL where only NCCL was recorded, an idle GPU
// where its kernels were, too. A late start has its reason beside it.

import { firstEndAfter } from "../data/block";
import { firstBlock, Level, type Bundle } from "../data/bundle";
import type { Trace } from "../data/trace";
import type { Row } from "../scene/layout";
import { Shade, type Axis, type Scan } from "./fold";
import { shortDuration } from "./ruler";

/** Pixels from which a gap has words. */
const WORDS_FROM = 40;
/** Share of operations of which start and end are known: without them nothing is known of what is between them. */
const MOST_UNKNOWN = 0.1;

/** In full, and in short. */
export const OUTSIDE = ["outside NCCL", "outside"] as const;
export const IDLE = ["GPU idle", "idle"] as const;

/** A gap that is wide enough for words: pixels of the canvas, from the left of the rows. */
export interface Gap {
    from: number;
    to: number;
}

interface Known {
    lanes: number[];
    from: number; // ns
    to: number;
    compute: boolean; // kernels were recorded, too
}

export class Outside {
    private readonly enabled: boolean;
    private readonly known = new Map<Row, Known | null>();

    constructor(private readonly trace: Trace) {
        const { ops } = trace.bundle;
        let unknown = 0;
        for (let op = 0; op < ops.count; op++)
            if (Number.isNaN(ops.first[op]!) || Number.isNaN(ops.end[op]!)) unknown++;
        this.enabled = ops.count > 0 && unknown <= MOST_UNKNOWN * ops.count;
    }

    /** Rows are made anew when they change. */
    forget(): void {
        this.known.clear();
    }

    private of(row: Row): Known | null {
        let known = this.known.get(row);
        if (known === undefined) {
            known = this.enabled ? lookAt(this.trace.bundle, row) : null;
            this.known.set(row, known);
        }
        return known;
    }

    /** Marks the free pixels between the first and the last bar; returns the gaps that have room for words. */
    mark(row: Row, axis: Axis, scan: Scan): Gap[] {
        const known = this.of(row);
        const gaps: Gap[] = [];
        if (!known) return gaps;
        const last = Math.min(scan.width, Math.floor((known.to - axis.t0) * axis.scale));
        let begin = -1;
        for (let x = Math.max(0, Math.ceil((known.from - axis.t0) * axis.scale)); x <= last; x++) {
            if (x < last && scan.kind[x] === 0) {
                scan.shade[x] = Shade.Outside;
                if (begin < 0) begin = x;
            } else if (begin >= 0) {
                if (x - begin >= WORDS_FROM) gaps.push({ from: begin, to: x });
                begin = -1;
            }
        }
        return gaps;
    }

    /** What a gap is, in full and in short, and how long: "2.1 ms"; empty where the bars around it are still on their way. */
    words(row: Row, time: number): [readonly [string, string], string] {
        const known = this.of(row);
        const length = known ? gapAt(this.trace, known.lanes, time) : NaN;
        if (!known || !(length > 0)) return [OUTSIDE, ""];
        return [known.compute ? IDLE : OUTSIDE, shortDuration(length)];
    }
}

function lookAt(bundle: Bundle, row: Row): Known | null {
    const { groups, lanes, blocks, meta } = bundle;
    if (row.open !== false || groups.level[row.group] !== Level.Rank) return null;
    const known: Known = { lanes: row.lanes, from: Infinity, to: -Infinity, compute: false };
    let operations = false;
    for (const lane of row.lanes) {
        const [first, end] = [lanes.blockFrom[lane]!, lanes.blockFrom[lane + 1]!];
        if (first === end) continue;
        known.from = Math.min(known.from, blocks.from[first]!);
        known.to = Math.max(known.to, blocks.to[end - 1]!);
        const { id } = meta.rows[lanes.kind[lane]!]!;
        if (id === "compute") known.compute = true;
        if (id === "operations") operations = true;
    }
    return operations && known.to > known.from ? known : null;
}

/** How long nothing is on any of the lanes, around a moment; NaN: not known yet. */
function gapAt({ bundle, blocks }: Trace, lanes: number[], time: number): number {
    let from = -Infinity;
    let to = Infinity;
    for (const lane of lanes) {
        const [first, end] = [bundle.lanes.blockFrom[lane]!, bundle.lanes.blockFrom[lane + 1]!];
        const id = firstBlock(bundle, lane, time);
        if (id > first) from = Math.max(from, bundle.blocks.to[id - 1]!);
        if (id === end) continue;
        if (bundle.blocks.from[id]! > time) {
            to = Math.min(to, bundle.blocks.from[id]!);
            continue;
        }
        const block = blocks.peek(id);
        if (!block) return NaN;
        const i = firstEndAfter(block, time);
        if (i > 0) from = Math.max(from, block.end[i - 1]! + (block.fade?.[i - 1] ?? 0));
        if (i < block.count) to = Math.min(to, block.start[i]!);
        else if (id + 1 < end) to = Math.min(to, bundle.blocks.from[id + 1]!);
    }
    return to - from;
}
