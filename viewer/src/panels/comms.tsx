// The tree of communicators: which was split from which, and who is in it.

import { useMemo } from "preact/hooks";
import { OpFlag } from "../data/layout";
import type { Comm } from "../data/meta";
import type { Trace } from "../data/trace";
import type { Session } from "../state/session";
import { count, duration, moment } from "./words";

/** Splits go a few deep; a damaged file may go in circles. */
const DEEPEST = 12;
const MOST = 500;

export function commTree(comms: Comm[]): Map<string | null, Comm[]> {
    const known = new Set(comms.map((comm) => comm.comm));
    const tree = new Map<string | null, Comm[]>();
    for (const comm of comms) {
        const parent =
            comm.parent && known.has(comm.parent.comm) && comm.parent.comm !== comm.comm ? comm.parent.comm : null;
        const list = tree.get(parent);
        if (list) list.push(comm);
        else tree.set(parent, [comm]);
    }
    return tree;
}

/** What was done on each communicator: operations, and the wait of all their ranks. */
function sumsOf(trace: Trace): { ops: number; wait: number }[] {
    const { ops, meta } = trace.bundle;
    const sums = meta.comms.map(() => ({ ops: 0, wait: 0 }));
    for (let op = 0; op < ops.count; op++) {
        const sum = sums[ops.comm[op]!];
        if (!sum || ops.flags[op]! & OpFlag.Inside) continue;
        sum.ops++;
        sum.wait += (trace.knownWait(op, ops.wait[op]!) || 0) * ops.ranks[op]!;
    }
    return sums;
}

/** Groups of the ranks of a communicator, in the order of its ranks. */
function membersOf(trace: Trace, comm: number): number[] {
    const { members } = trace.bundle;
    const list: { rank: number; group: number }[] = [];
    for (let i = 0; i < members.count; i++)
        if (members.comm[i] === comm) list.push({ rank: members.rank[i]!, group: members.group[i]! });
    return list.sort((a, b) => a.rank - b.rank).map((m) => m.group);
}

export function Communicators({ session }: { session: Session }) {
    const { comms } = session.trace.bundle.meta;
    const tree = useMemo(() => commTree(comms), [comms]);
    const sums = useMemo(
        () => new Map(sumsOf(session.trace).map((sum, i) => [comms[i]!, { ...sum, index: i }])),
        [comms],
    );
    if (comms.length === 0) return <p class="hint">No communicator was recorded.</p>;
    return <Branch session={session} tree={tree} sums={sums} parent={null} depth={0} />;
}

type Sums = Map<Comm, { ops: number; wait: number; index: number }>;

function Branch({
    session,
    tree,
    sums,
    parent,
    depth,
}: {
    session: Session;
    tree: Map<string | null, Comm[]>;
    sums: Sums;
    parent: string | null;
    depth: number;
}) {
    const list = tree.get(parent);
    if (!list || depth > DEEPEST) return null;
    return (
        <ul class="tree">
            {list.slice(0, MOST).map((comm, i) => (
                <li key={i}>
                    <details>
                        <summary>
                            <b dir="auto">{comm.name || comm.comm}</b>{" "}
                            <small>
                                {comm.nranks ?? "?"} ranks
                                {comm.nnodes ? ` on ${comm.nnodes} ${comm.nnodes === 1 ? "node" : "nodes"}` : ""}
                                {comm.parent ? `, colour ${comm.parent.color ?? "?"}` : ""}
                                {`, ${count(sums.get(comm)?.ops ?? 0)} operations`}
                                {sums.get(comm)?.wait ? `, ${duration(sums.get(comm)!.wait)} wait` : ""}
                            </small>
                        </summary>
                        <p class="hint">
                            {comm.comm}
                            {comm.created_ns === null ? "" : `, created ${moment(comm.created_ns, 1000)}`}
                            {comm.destroyed_ns === null ? "" : `, destroyed ${moment(comm.destroyed_ns, 1000)}`}
                        </p>
                        <p class="tools">
                            <button
                                onClick={() => session.showOnly(membersOf(session.trace, sums.get(comm)?.index ?? -1))}
                            >
                                only its ranks
                            </button>
                        </p>
                        <p>
                            {comm.members.slice(0, 256).map((m) => (
                                <span class="member" key={m.rank}>
                                    {`rank ${m.rank ?? "?"}: job rank ${m.global_rank ?? "?"}, `}
                                    {`${m.host ?? "host ?"}, GPU ${m.device ?? "?"}`}
                                </span>
                            ))}
                            {comm.members.length > 256 ? ` and ${comm.members.length - 256} more` : ""}
                        </p>
                    </details>
                    <Branch session={session} tree={tree} sums={sums} parent={comm.comm} depth={depth + 1} />
                </li>
            ))}
            {list.length > MOST ? <li class="hint">and {count(list.length - MOST)} more</li> : null}
        </ul>
    );
}
