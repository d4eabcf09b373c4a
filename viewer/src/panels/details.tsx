// The selected bar with what it is related to, each to jump to; or the sums of a span.

import { useEffect, useState } from "preact/hooks";
import { Level } from "../data/bundle";
import { NONE } from "../data/layout";
import type { Bar } from "../data/trace";
import type { Session } from "../state/session";
import { barAsJson } from "../timeline/copy";
import { groupAbove } from "../data/groups";
import { factsOf, factsOfOp, furtherFacts, onlyNew, type Fact } from "./facts";
import { SpanSums } from "./span";
import { Facts } from "./tooltip";
import { count, duration, waited } from "./words";

const MOST = 100;
const MOST_RANKS = 512;

export function Details({ session }: { session: Session }) {
    const bar = session.selected.value;
    if (session.span.value) return <SpanSums session={session} />;
    if (!bar)
        return (
            <div class="empty">
                <p>Nothing is selected.</p>
                <p class="hint">Click a bar for its details, or drag over bars for totals.</p>
                <p class="hint">
                    Without a mouse: <kbd>.</kbd> selects the first visible operation, <kbd>?</kbd> shows the keys.
                </p>
            </div>
        );
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
    const ofBar = [...factsOf(trace, bar), ...further];
    const ofOp = onlyNew(factsOfOp(trace, bar.op), ofBar);
    const others = (end: 0 | 1): Bar[] =>
        (related?.arrows ?? []).map((pair) => pair[end]).filter((other) => other.bar !== bar.bar);
    return (
        <div class="details">
            <h2 dir="auto" aria-live="polite">
                {trace.nameOf(bar)}
            </h2>
            {kind?.explain ? <p class="explain">{kind.explain}</p> : null}
            <p class="tools">
                <button onClick={() => session.look(session.around(bar))} title="Shift+F">
                    zoom to it
                </button>
                <button onClick={() => void barAsJson(trace, bar).then((text) => session.copy(text))} title="C">
                    copy as JSON
                </button>
                <button onClick={() => void session.copyAddress()} title="Shift+C">
                    copy link
                </button>
            </p>
            <Facts facts={ofBar} />
            {ofOp.length > 0 ? (
                <>
                    <h3>operation</h3>
                    <Facts facts={ofOp} />
                </>
            ) : null}
            {related ? (
                <>
                    <Links session={session} title="parents" bars={related.parents} />
                    <Links session={session} title="children" bars={related.children} />
                    <Links session={session} title="launched with it" bars={related.launched} />
                    <Links session={session} title="sent by" bars={others(0)} />
                    <Links session={session} title="received by" bars={others(1)} />
                    <Ranks session={session} bar={bar} />
                </>
            ) : (
                <p class="hint">loading relations…</p>
            )}
        </div>
    );
}

/** "rank 3, channel 5": where another bar is, as short as can be. */
function whereOf(session: Session, bar: Bar): string {
    const { bundle } = session.trace;
    const rank = groupAbove(bundle, bundle.lanes.group[bar.lane]!, Level.Rank);
    const row = bundle.strings.get(bundle.lanes.label[bar.lane]!);
    return rank === NONE ? row : `${bundle.strings.get(bundle.groups.label[rank]!)}, ${row}`;
}

function Links({ session, title, bars }: { session: Session; title: string; bars: Bar[] }) {
    if (bars.length === 0) return null;
    return (
        <section>
            <h3>
                {title} <small>{count(bars.length)}</small>
            </h3>
            <ul class="links">
                {bars.slice(0, MOST).map((bar) => (
                    <li key={bar.bar}>
                        <button class="link" dir="auto" onClick={() => void session.jump(bar.bar)}>
                            {session.trace.nameOf(bar)}
                        </button>
                        <span class="number">{duration(bar.end - bar.start)}</span>
                        <span class="hint">{whereOf(session, bar)}</span>
                    </li>
                ))}
            </ul>
            {bars.length > MOST ? <p class="hint">and {count(bars.length - MOST)} more</p> : null}
        </section>
    );
}

function Ranks({ session, bar }: { session: Session; bar: Bar }) {
    const parts = session.related.value?.parts ?? [];
    if (parts.length === 0) return null;
    const { trace } = session;
    const { members, ops } = trace.bundle;
    const shownWait = (wait: number): number => trace.knownWait(bar.op, wait) || 0;
    const most = parts.reduce((max, part) => Math.max(max, shownWait(part.wait)), 1);
    return (
        <section>
            <h3>
                all ranks of the operation <small>{count(parts.length)}</small>
            </h3>
            <table class="ranks">
                <thead>
                    <tr>
                        <th>rank</th>
                        <th>job rank</th>
                        <th>wait</th>
                        <th>duration</th>
                        <th aria-label="wait as a bar" />
                    </tr>
                </thead>
                <tbody>
                    {parts.slice(0, MOST_RANKS).map((part) => (
                        <tr key={part.index} class={part.bar === bar.bar ? "chosen" : ""}>
                            <td>
                                <button
                                    class="link"
                                    disabled={part.bar === NONE}
                                    title={part.bar === NONE ? "start unknown: not drawn" : "go there"}
                                    onClick={() => void session.jump(part.bar)}
                                >
                                    {known(members.rank[part.member]!)}
                                </button>
                                {part.index === ops.lastPart[bar.op] ? <b class="last">last</b> : null}
                            </td>
                            <td>{known(members.globalRank[part.member]!)}</td>
                            <td>
                                {waited(part.wait, part.index === ops.lastPart[bar.op] ? 0 : trace.leastWait(bar.op))}
                            </td>
                            <td>{duration(part.end - part.start)}</td>
                            <td>
                                <div class="wait" style={{ width: `${(60 * shownWait(part.wait)) / most}px` }} />
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {parts.length > MOST_RANKS ? <p class="hint">and {count(parts.length - MOST_RANKS)} more</p> : null}
        </section>
    );
}

const known = (rank: number | undefined): string => (rank === undefined || rank < 0 ? "?" : String(rank));
