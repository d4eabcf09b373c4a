// The selected bar with what it is related to, each to jump to; or the sums of a span.

import { useEffect, useState } from "preact/hooks";
import { NONE } from "../data/layout";
import type { Bar } from "../data/trace";
import type { Session } from "../state/session";
import { factsOf, factsOfOp, furtherFacts, type Fact } from "./facts";
import { SpanSums } from "./span";
import { Pair } from "./tooltip";
import { duration } from "./words";

const MOST = 100;

export function Details({ session }: { session: Session }) {
    const bar = session.selected.value;
    if (session.span.value) return <SpanSums session={session} />;
    if (!bar) return <p class="hint">Click a bar, or drag over some. Press ? for the keys.</p>;
    return <OfBar key={bar.bar} session={session} bar={bar} />;
}

function OfBar({ session, bar }: { session: Session; bar: Bar }) {
    const [further, setFurther] = useState<Fact[]>([]);
    const { trace } = session;
    const related = session.related.value;
    useEffect(() => {
        let there = true;
        void furtherFacts(trace, bar).then((facts) => there && setFurther(facts));
        return () => void (there = false);
    }, [bar]);
    const kind = trace.bundle.meta.kinds[bar.kind];
    return (
        <div class="details" aria-live="polite">
            <h2>{trace.nameOf(bar)}</h2>
            {kind?.explain ? <p>{kind.explain}</p> : null}
            <dl>
                {[...factsOf(trace, bar), ...further, ...factsOfOp(trace, bar.op)].map(([name, value], i) => (
                    <Pair key={i} name={name} value={value} />
                ))}
            </dl>
            {related ? (
                <>
                    <Links session={session} title="parents" bars={related.parents} />
                    <Links session={session} title="children" bars={related.children} />
                    <Links session={session} title="launched" bars={related.launched} />
                    <Links
                        session={session}
                        title="receives"
                        bars={related.arrows.map(([, to]) => to).filter((to) => to.bar !== bar.bar)}
                    />
                    <Ranks session={session} bar={bar} />
                </>
            ) : (
                <p class="hint">looking for relations…</p>
            )}
        </div>
    );
}

function Links({ session, title, bars }: { session: Session; title: string; bars: Bar[] }) {
    if (bars.length === 0) return null;
    return (
        <section>
            <h3>
                {title} ({bars.length})
            </h3>
            <ul class="links">
                {bars.slice(0, MOST).map((bar) => (
                    <li key={bar.bar}>
                        <button onClick={() => void session.jump(bar.bar)}>{session.trace.nameOf(bar)}</button>{" "}
                        {duration(bar.end - bar.start)}
                    </li>
                ))}
            </ul>
            {bars.length > MOST ? <p class="hint">and {bars.length - MOST} more</p> : null}
        </section>
    );
}

function Ranks({ session, bar }: { session: Session; bar: Bar }) {
    const parts = session.related.value?.parts ?? [];
    if (parts.length === 0) return null;
    const { members, ops } = session.trace.bundle;
    const most = Math.max(1, ...parts.map((part) => part.wait || 0));
    return (
        <section>
            <h3>all ranks of it ({parts.length})</h3>
            <table class="ranks">
                <thead>
                    <tr>
                        <th>rank</th>
                        <th>of job</th>
                        <th>wait</th>
                        <th>lasted</th>
                        <th />
                    </tr>
                </thead>
                <tbody>
                    {parts.slice(0, 512).map((part) => (
                        <tr key={part.index} class={part.bar === bar.bar ? "chosen" : ""}>
                            <td>
                                <button disabled={part.bar === NONE} onClick={() => void session.jump(part.bar)}>
                                    {members.rank[part.member]}
                                </button>
                                {part.index === ops.lastPart[bar.op] ? <b> last</b> : null}
                            </td>
                            <td>{members.globalRank[part.member]! < 0 ? "?" : members.globalRank[part.member]}</td>
                            <td>{duration(part.wait)}</td>
                            <td>{duration(part.end - part.start)}</td>
                            <td>
                                <div class="wait" style={{ width: `${(60 * (part.wait || 0)) / most}px` }} />
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}
