// The conclusion of the report, who held the others up, and the operations that cost most.

import { useMemo } from "preact/hooks";
import { NONE } from "../data/layout";
import type { Straggler } from "../data/meta";
import type { Session } from "../state/session";
import { Comparison, OtherConclusion, ReplayHint } from "./runs";
import { worstBar, worstOps } from "./worst";
import { bytes, count, duration, utc, waited } from "./words";

const MOST = 50;
const WORST = 8;

export function ReportPanel({ session }: { session: Session }) {
    const { meta, bars, span } = session.trace.bundle;
    const report = meta.report ?? {};
    const operations = report.operations?.count ?? session.trace.countOf();
    const ties = report.operations?.ties ?? 0;
    const zero = utc(meta.begin_ns);
    const notes = meta.notes?.length ?? 0;
    const paired = session.runs.list.length > 1;
    return (
        <div class="report">
            <h2 dir="auto">{meta.title}</h2>
            <p class="hint">
                {count(operations)} {operations === 1 ? "operation" : "operations"}
                {ties > 0 ? ` (${count(ties)} ties)` : ""}, {count(bars)} bars in {duration(span)}
                {zero ? `; 0 s is ${zero}` : ""}
            </p>
            {report.steps?.left_out ? <p class="hint">{report.steps.left_out}</p> : null}
            <Comparison session={session} />
            {paired && report.conclusion?.length ? (
                <h3 dir="auto">conclusion of the upper run: {session.runs.list[0]!.title}</h3>
            ) : null}
            {(report.conclusion ?? []).map((sentence, i) => (
                <div key={i}>
                    <p class={paired ? "" : "conclusion"} dir="auto">
                        {sentence}
                    </p>
                    <ReplayHint session={session} sentence={sentence} />
                </div>
            ))}
            <OtherConclusion session={session} />
            {report.stragglers?.length ? <Stragglers session={session} rows={report.stragglers} /> : null}
            <Worst session={session} />
            {notes > 0 ? (
                <p>
                    <button class="link" onClick={() => (session.panel.value = "notes")}>
                        {count(notes)} {notes === 1 ? "note" : "notes"}: what is to be known of these data
                    </button>
                </p>
            ) : null}
        </div>
    );
}

function Stragglers({ session, rows }: { session: Session; rows: Straggler[] }) {
    const barOf = async (row: Straggler): Promise<number | null> => {
        const bar = await worstBar(session.trace, row);
        if (bar !== NONE) return bar;
        session.message.value = "no operation on the timeline in which it was last";
        return null;
    };
    return (
        <>
            <h3>ranks that others waited for, by cost</h3>
            <table>
                <thead>
                    <tr>
                        <th>who</th>
                        <th>cost</th>
                        <th>last</th>
                        <th>why</th>
                    </tr>
                </thead>
                <tbody>
                    {rows.slice(0, MOST).map((row, i) => (
                        <tr key={i}>
                            <td>
                                <button
                                    class="link"
                                    title="go to the worst operation"
                                    onClick={() => void session.jump(barOf(row))}
                                >
                                    {row.scope === "host" ? (row.host ?? "?") : `rank ${row.rank ?? "?"}`}
                                </button>{" "}
                                <small>{placeOf(row)}</small>
                            </td>
                            <td>
                                {duration(row.cost_ns)}
                                {row.inherited_ns ? <small> {duration(row.inherited_ns)} inherited</small> : null}
                            </td>
                            <td>{row.times_last === 1 ? "once" : `${count(row.times_last)} times`}</td>
                            <td dir="auto">{row.why ?? "unknown"}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {rows.length > MOST ? <p class="hint">and {count(rows.length - MOST)} more</p> : null}
        </>
    );
}

/** "host3, GPU 5", as far as it is known. */
function placeOf(row: Straggler): string {
    if (row.scope === "host") return "host";
    const words = [row.host ?? "", row.device === null || row.device === undefined ? "" : `GPU ${row.device}`];
    return words.filter((word) => word !== "" && word !== "?").join(", ");
}

/** The operations that cost the ranks most time in waiting. */
function Worst({ session }: { session: Session }) {
    const { trace } = session;
    const { ops } = trace.bundle;
    const list = useMemo(() => worstOps(trace, WORST), [trace]);
    if (list.length === 0) return null;
    const barOf = async (op: number): Promise<number | null> => {
        const parts = await trace.partsOf(op);
        const part = parts.find((p) => p.index === ops.lastPart[op]) ?? parts.find((p) => p.bar !== NONE);
        return part && part.bar !== NONE ? part.bar : null;
    };
    return (
        <>
            <h3>operations with the most wait time</h3>
            <table class="numbers">
                <thead>
                    <tr>
                        <th>operation</th>
                        <th>size</th>
                        <th>mean wait</th>
                        <th>ranks</th>
                    </tr>
                </thead>
                <tbody>
                    {list.map((op) => (
                        <tr key={op}>
                            <td>
                                <button class="link" dir="auto" onClick={() => void session.jump(barOf(op))}>
                                    {trace.opName(op)}
                                </button>
                            </td>
                            <td>{bytes(ops.bytes[op]!)}</td>
                            <td>{waited(ops.wait[op]!, trace.leastWait(op))}</td>
                            <td>{ops.ranks[op]}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </>
    );
}
