// The operation in which someone cost the others most: where a click on the conclusion leads.

import { Level } from "../data/bundle";
import { NONE, OpFlag } from "../data/layout";
import type { Trace } from "../data/trace";
import { groupAbove } from "../data/groups";

/** Operations that are looked at, those with the longest waits first. */
const MOST_LOOKED = 5000;

/** Nothing below the clock error. */
const costOf = (trace: Trace, op: number): number => {
    const { wait, ranks } = trace.bundle.ops;
    return trace.knownWait(op, wait[op]!) * ranks[op]!;
};

/** Operations by what they cost, the worst first; such without a wait are left out. */
export function byCost(trace: Trace): Uint32Array {
    const { ops } = trace.bundle;
    const list = Uint32Array.from({ length: ops.count }, (_, op) => op).filter((op) => costOf(trace, op) > 0);
    return list.sort((a, b) => costOf(trace, b) - costOf(trace, a) || a - b);
}

/**
 * The first `most` of these, none listed twice: a fan-out stands for its pairs. The page opens with it: no sorting.
 */
export function worstOps(trace: Trace, most: number): number[] {
    const { ops } = trace.bundle;
    const worst: number[] = [];
    let least = 0;
    for (let op = 0; op < ops.count; op++) {
        const cost = costOf(trace, op);
        if (!(cost > least) || ops.flags[op]! & OpFlag.Inside) continue;
        const at = worst.findIndex((other) => costOf(trace, other) < cost);
        worst.splice(at < 0 ? worst.length : at, 0, op);
        if (worst.length > most) worst.pop();
        if (worst.length === most) least = costOf(trace, worst[most - 1]!);
    }
    return worst;
}

/** The bar of the last arriver in the worst operation in which it was the rank, or a rank of the host; NONE: none. */
export async function worstBar(
    trace: Trace,
    who: { rank: number | null; host: string | null; scope: string },
): Promise<number> {
    const { ops, members, groups, strings } = trace.bundle;
    for (const op of byCost(trace).subarray(0, MOST_LOOKED)) {
        const last = ops.lastPart[op]!;
        if (last === NONE) continue;
        const [part] = await trace.parts.list(last, last + 1);
        if (!part || part.bar === NONE) continue;
        if (who.scope !== "host" && who.rank !== null) {
            if (members.globalRank[part.member] === who.rank) return part.bar;
            continue;
        }
        const host = groupAbove(trace.bundle, members.group[part.member]!, Level.Host);
        if (host !== NONE && strings.get(groups.label[host]!) === who.host) return part.bar;
    }
    return NONE;
}
