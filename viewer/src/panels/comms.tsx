// The tree of communicators: which was split from which, and who is in it.

import type { Comm } from "../data/meta";
import type { Session } from "../state/session";
import { moment } from "./words";

/** Splits go a few deep; a damaged file may go in circles. */
const DEEPEST = 12;

export function commTree(comms: Comm[]): Map<string | null, Comm[]> {
    const known = new Set(comms.map((comm) => comm.comm));
    const tree = new Map<string | null, Comm[]>();
    for (const comm of comms) {
        const parent =
            comm.parent && known.has(comm.parent.comm) && comm.parent.comm !== comm.comm ? comm.parent.comm : null;
        tree.set(parent, [...(tree.get(parent) ?? []), comm]);
    }
    return tree;
}

export function Communicators({ session }: { session: Session }) {
    const { comms } = session.trace.bundle.meta;
    if (comms.length === 0) return <p class="hint">No communicator was recorded.</p>;
    const tree = commTree(comms);
    return <Branch session={session} tree={tree} parent={null} depth={0} />;
}

function Branch({
    session,
    tree,
    parent,
    depth,
}: {
    session: Session;
    tree: Map<string | null, Comm[]>;
    parent: string | null;
    depth: number;
}) {
    const list = tree.get(parent);
    if (!list || depth > DEEPEST) return null;
    return (
        <ul class="tree">
            {list.slice(0, 500).map((comm) => (
                <li key={comm.comm}>
                    <details>
                        <summary>
                            <b>{comm.name || comm.comm}</b> {comm.nranks ?? "?"} ranks
                            {comm.nnodes ? ` on ${comm.nnodes} nodes` : ""}
                            {comm.parent ? `, colour ${comm.parent.color ?? "?"}` : ""}
                        </summary>
                        <p class="hint">
                            {comm.comm}
                            {comm.created_ns === null ? "" : `, created ${moment(comm.created_ns, 1000)}`}
                            {comm.destroyed_ns === null ? "" : `, destroyed ${moment(comm.destroyed_ns, 1000)}`}
                        </p>
                        <p>
                            {comm.members.slice(0, 256).map((m) => (
                                <span class="member" key={m.rank}>
                                    {m.rank ?? "?"} = {m.global_rank ?? "?"} ({m.host ?? "?"}, GPU {m.device ?? "?"})
                                </span>
                            ))}
                            {comm.members.length > 256 ? ` and ${comm.members.length - 256} more` : ""}
                        </p>
                    </details>
                    <Branch session={session} tree={tree} parent={comm.comm} depth={depth + 1} />
                </li>
            ))}
        </ul>
    );
}
