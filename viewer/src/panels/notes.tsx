// What is not in the data: lost, not recorded, not to be compared; and how well the clocks are known.

import type { Session } from "../state/session";
import { count, duration } from "./words";

const MOST = 500;

export function Notes({ session }: { session: Session }) {
    const { meta, ops } = session.trace.bundle;
    const notes = meta.notes ?? [];
    let undrawn = 0;
    for (let op = 0; op < ops.count; op++) if (!Number.isFinite(ops.first[op]!)) undrawn++;
    return (
        <div class="notes">
            <h3>notes on these data</h3>
            {notes.length === 0 && undrawn === 0 ? <p class="hint">No known gaps or problems.</p> : null}
            <ul class="sentences">
                {notes.slice(0, MOST).map((note, i) => (
                    <li key={i} dir="auto">
                        {note}
                    </li>
                ))}
                {undrawn > 0 ? (
                    <li>
                        {count(undrawn)} operations have no known start: they are in the table of operations, and not on
                        the timeline.
                    </li>
                ) : null}
            </ul>
            <Clocks session={session} />
        </div>
    );
}

function Clocks({ session }: { session: Session }) {
    const { clocks } = session.trace.bundle.meta;
    if (clocks.length === 0) return null;
    return (
        <>
            <h3>
                clocks <small>{count(clocks.length)}</small>
            </h3>
            <p class="hint">
                No claim is made below the error of a clock. A lead under twice the error is called a tie.
            </p>
            <table>
                <thead>
                    <tr>
                        <th>host</th>
                        <th>process</th>
                        <th>GPU</th>
                        <th>ranks</th>
                        <th>error</th>
                        <th>by</th>
                    </tr>
                </thead>
                <tbody>
                    {clocks.slice(0, MOST).map((clock, i) => (
                        <tr key={i}>
                            <td>{clock.host ?? "?"}</td>
                            <td>{clock.pid ?? ""}</td>
                            <td>{clock.device ?? ""}</td>
                            <td>{ranks(clock.ranks)}</td>
                            <td>{clock.error_ns === null ? "not comparable" : duration(clock.error_ns)}</td>
                            <td>{clock.method ?? ""}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {clocks.length > MOST ? <p class="hint">and {count(clocks.length - MOST)} more</p> : null}
        </>
    );
}

function ranks(list: (number | null)[] | undefined): string {
    if (!list?.length) return "";
    return list.length > 8
        ? `${list[0] ?? "?"} to ${list[list.length - 1] ?? "?"}`
        : list.map((r) => r ?? "?").join(" ");
}
