// The sums of a span, in a table.

import { useEffect, useState } from "preact/hooks";
import { NONE } from "../data/layout";
import type { Session } from "../state/session";
import { fitView } from "../scene/view";
import { sumsOf, type By, type Sum } from "./sums";
import { bandwidth, bytes, count, duration, longDuration, moment } from "./words";

/** Work before the page may draw again. */
const PAUSE_MS = 8;
const MOST = 500;

type Key = "where" | "bars" | "time" | "wait" | "mean" | "bytes" | "busbw";

const COLUMNS: [Key, string][] = [
    ["where", "what"],
    ["bars", "count"],
    ["time", "total"],
    ["mean", "mean"],
    ["wait", "wait"],
    ["bytes", "bytes"],
    ["busbw", "busbw"],
];

/** What a column shows, and is sorted by: total and mean are of the same stretches of time. */
export const value = (sum: Sum, key: Key): number => {
    if (key === "mean") return sum.time / sum.bars;
    if (key === "busbw") return sum.timed > 0 ? sum.bandwidth / sum.timed : NaN;
    return key === "where" ? -sum.group : sum[key];
};

export function SpanSums({ session }: { session: Session }) {
    const span = session.span.value!;
    const [by, setBy] = useState<By>("rank and function");
    const [sort, setSort] = useState<Key>("where");
    const [state, setState] = useState<{ sums: Sum[]; done: boolean }>({ sums: [], done: false });
    useEffect(() => {
        let over = false;
        let begin = performance.now();
        const pause = async (sums: Sum[]): Promise<boolean> => {
            if (performance.now() - begin < PAUSE_MS) return !over;
            if (!over) setState({ sums, done: false });
            await new Promise((resolve) => setTimeout(resolve));
            begin = performance.now();
            return !over;
        };
        // A drag changes the span many times a second.
        const timer = setTimeout(async () => {
            const rows = session.layout.value.rows.slice(span.rowFrom, span.rowTo + 1);
            const lanes = new Set(rows.flatMap((row) => row.lanes));
            const sums = await sumsOf(session.trace, lanes, span.t0, span.t1, by, pause, (lane) =>
                session.shiftOf(lane),
            );
            if (sums && !over) setState({ sums, done: true });
        }, 120);
        return () => {
            over = true;
            clearTimeout(timer);
        };
    }, [span.t0, span.t1, span.rowFrom, span.rowTo, by]);
    const { meta, groups, strings } = session.trace.bundle;
    const rows = [...state.sums].sort((a, b) => (value(b, sort) || 0) - (value(a, sort) || 0) || b.time - a.time);
    const name = (sum: Sum): string => {
        const kind = sum.kind === NONE ? "" : (meta.kinds[sum.kind]?.label ?? "?");
        const place = sum.group === NONE ? "" : strings.get(groups.label[sum.group]!);
        return [place, kind].filter((word) => word !== "").join(" · ") || "no rank";
    };
    return (
        <div class="details">
            <h2>Δ {longDuration(span.t1 - span.t0)}</h2>
            <p class="hint">
                {moment(span.t0, 1)} to {moment(span.t1, 1)}
                {state.done ? "" : " …"}
            </p>
            <p class="tools">
                <label>
                    by{" "}
                    <select value={by} onChange={(e) => setBy(e.currentTarget.value as By)}>
                        <option>rank and function</option>
                        <option>function</option>
                        <option>rank</option>
                    </select>
                </label>
                <button onClick={() => session.look(fitView(span.t0, span.t1, session.trace.bundle.span, 0.02))}>
                    zoom to it
                </button>
                <button onClick={() => session.mark(span.t0, true)}>add a mark</button>
                <button onClick={() => (session.span.value = null)}>close</button>
            </p>
            {state.done && rows.length === 0 ? <p class="hint">No bars in this range.</p> : null}
            <table class="numbers">
                <thead>
                    <tr>
                        {COLUMNS.map(([key, label]) => (
                            <th key={key} aria-sort={sort === key ? "descending" : "none"}>
                                <button class="link" onClick={() => setSort(key)}>
                                    {label}
                                    {sort === key && key !== "where" ? " ▾" : ""}
                                </button>
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {rows.slice(0, MOST).map((sum) => (
                        <tr key={`${sum.group} ${sum.kind}`}>
                            <td dir="auto">{name(sum)}</td>
                            <td>{count(sum.bars)}</td>
                            <td>{duration(sum.time)}</td>
                            <td>{duration(value(sum, "mean"))}</td>
                            <td>{sum.wait > 0 ? duration(sum.wait) : ""}</td>
                            <td>{sum.bytes > 0 ? bytes(sum.bytes) : ""}</td>
                            <td>{sum.timed > 0 ? bandwidth(value(sum, "busbw")) : ""}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {rows.length > MOST ? <p class="hint">and {count(rows.length - MOST)} more</p> : null}
            <p class="hint">
                Total, mean and wait count what lies in the range: of a bar that reaches beyond it, the part inside.
                Bytes and bus bandwidth are those of operations that lie in it as a whole.
            </p>
        </div>
    );
}
