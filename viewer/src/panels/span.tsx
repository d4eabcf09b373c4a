// Sums of a span: how often and how long each kind was there, for each rank.

import { useEffect, useState } from "preact/hooks";
import { firstEndAfter } from "../data/block";
import { Level } from "../data/bundle";
import { NONE } from "../data/layout";
import type { Session, Span } from "../state/session";
import { groupAbove } from "../timeline/layout";
import { count, duration, moment } from "./words";

interface Sum {
    group: number;
    kind: number;
    bars: number;
    time: number;
    wait: number;
}

/** Bars that are summed before the page may draw again. */
const PAUSE_MS = 8;

async function sums(
    session: Session,
    span: Span,
    stop: () => boolean,
    show: (sums: Sum[], done: boolean) => void,
): Promise<void> {
    const { bundle, blocks } = session.trace;
    const found = new Map<string, Sum>();
    const lanes = new Set(session.layout.value.rows.slice(span.rowFrom, span.rowTo + 1).flatMap((row) => row.lanes));
    let begin = performance.now();
    for (const lane of lanes) {
        const group = groupAbove(bundle, bundle.lanes.group[lane]!, Level.Rank);
        for (let id = bundle.lanes.blockFrom[lane]!; id < bundle.lanes.blockFrom[lane + 1]!; id++) {
            if (bundle.blocks.to[id]! <= span.t0 || bundle.blocks.from[id]! >= span.t1) continue;
            const block = await blocks.load(id);
            for (let i = firstEndAfter(block, span.t0); i < block.count && block.start[i]! < span.t1; i++) {
                const key = `${group} ${block.kind[i]}`;
                let sum = found.get(key);
                if (!sum) found.set(key, (sum = { group, kind: block.kind[i]!, bars: 0, time: 0, wait: 0 }));
                sum.bars++;
                // Only what lies in the span counts.
                sum.time += Math.min(block.end[i]!, span.t1) - Math.max(block.start[i]!, span.t0);
                const waited = block.wait ? block.start[i]! + block.wait[i]! : block.start[i]!;
                sum.wait += Math.max(0, Math.min(waited, span.t1) - Math.max(block.start[i]!, span.t0));
            }
            if (performance.now() - begin < PAUSE_MS) continue;
            show([...found.values()], false);
            await new Promise((resolve) => setTimeout(resolve));
            if (stop()) return;
            begin = performance.now();
        }
    }
    show([...found.values()], true);
}

export function SpanSums({ session }: { session: Session }) {
    const span = session.span.value!;
    const [state, setState] = useState<{ sums: Sum[]; done: boolean }>({ sums: [], done: false });
    useEffect(() => {
        let over = false;
        // A drag changes the span many times a second.
        const timer = setTimeout(
            () =>
                void sums(
                    session,
                    span,
                    () => over,
                    (list, done) => !over && setState({ sums: list, done }),
                ),
            120,
        );
        return () => {
            over = true;
            clearTimeout(timer);
        };
    }, [span.t0, span.t1, span.rowFrom, span.rowTo]);
    const { meta, groups, strings } = session.trace.bundle;
    const rows = [...state.sums].sort((a, b) => a.group - b.group || b.time - a.time);
    return (
        <div class="details">
            <h2>{duration(span.t1 - span.t0)}</h2>
            <p>
                {moment(span.t0, 1)} to {moment(span.t1, 1)}
                {state.done ? "" : " …"}
            </p>
            <table>
                <thead>
                    <tr>
                        <th>where</th>
                        <th>what</th>
                        <th>bars</th>
                        <th>time</th>
                        <th>wait</th>
                        <th>mean</th>
                    </tr>
                </thead>
                <tbody>
                    {rows.slice(0, 500).map((sum) => (
                        <tr key={`${sum.group} ${sum.kind}`}>
                            <td>{sum.group === NONE ? "" : strings.get(groups.label[sum.group]!)}</td>
                            <td>{meta.kinds[sum.kind]?.label}</td>
                            <td>{count(sum.bars)}</td>
                            <td>{duration(sum.time)}</td>
                            <td>{sum.wait > 0 ? duration(sum.wait) : "-"}</td>
                            <td>{duration(sum.time / sum.bars)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}
