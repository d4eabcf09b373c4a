// The conclusion of the report, who held the others up, and what is not in the data.

import { OpFlag } from "../data/layout";
import type { Session } from "../state/session";
import { count, duration } from "./words";

export function ReportPanel({ session }: { session: Session }) {
    const { meta, bars, ops, span } = session.trace.bundle;
    const { report } = meta;
    let ties = 0;
    for (let op = 0; op < ops.count; op++) if (ops.flags[op]! & OpFlag.Tie) ties++;
    return (
        <div class="report">
            <h2>{meta.title}</h2>
            <p class="hint">
                {count(bars)} bars, {count(ops.count)} operations ({count(ties)} ties) in {duration(span)}
            </p>
            {(report.conclusion ?? []).map((sentence, i) => (
                <p key={i} class="conclusion">
                    {sentence}
                </p>
            ))}
            {report.stragglers?.length ? (
                <>
                    <h3>who held the others up, by what that cost</h3>
                    <table>
                        <thead>
                            <tr>
                                <th>who</th>
                                <th>cost</th>
                                <th>inherited</th>
                                <th>last</th>
                                <th>why</th>
                            </tr>
                        </thead>
                        <tbody>
                            {report.stragglers.slice(0, 50).map((row, i) => (
                                <tr key={i}>
                                    <td>
                                        {row.scope === "host"
                                            ? row.host
                                            : `rank ${row.rank ?? "?"} (${row.host ?? "?"}, GPU ${row.device ?? "?"})`}
                                    </td>
                                    <td>{duration(row.cost_ns)}</td>
                                    <td>{row.inherited_ns === null ? "-" : duration(row.inherited_ns)}</td>
                                    <td>{count(row.times_last)} times</td>
                                    <td>{row.why ?? "?"}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </>
            ) : null}
            {meta.notes?.length ? (
                <>
                    <h3>to be known</h3>
                    <ul>
                        {meta.notes.map((note, i) => (
                            <li key={i}>{note}</li>
                        ))}
                    </ul>
                </>
            ) : null}
        </div>
    );
}
