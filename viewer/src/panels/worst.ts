// The operation in which someone cost the others most: where a click on the conclusion leads.

import { Level } from "../data/bundle";
import { NONE } from "../data/layout";
import type { Trace } from "../data/trace";
import { groupAbove } from "../timeline/layout";

/** Operations that are looked at, those with the longest waits first. */
const MOST_LOOKED = 5000;

/** Operations by what they cost, the worst first; such without a wait are left out. */
export function byCost(trace: Trace): Uint32Array {
    const { ops } = trace.bundle;
    const cost = (op: number): number => ops.wait[op]! * ops.ranks[op]!;
    const list = Uint32Array.from({ length: ops.count }, (_, op) => op).filter((op) => cost(op) > 0);
    return list.sort((a, b) => cost(b) - cost(a) || a - b);
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
