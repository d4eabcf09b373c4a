// What hangs at the mouse: everything known of the bar, or of the row, under it.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Session } from "../state/session";
import { factsOf, factsOfFlag, factsOfOp, factsOfRow, furtherFacts, onlyNew, type Fact } from "./facts";

export function Tooltip({ session }: { session: Session }) {
    const hover = session.hover.value;
    const { trace } = session;
    const bar = hover?.bar;
    const [further, setFurther] = useState<{ bar: number; facts: Fact[] }>({ bar: -1, facts: [] });
    useEffect(() => {
        if (!bar) return undefined;
        let there = true;
        void furtherFacts(trace, bar).then((facts) => there && setFurther({ bar: bar.bar, facts }));
        return () => void (there = false);
    }, [bar?.bar]);
    // What the panel beside it says already need not cover the bars.
    const shown = session.panel.value === "details" && session.selected.value?.bar === bar?.bar && !session.span.value;
    if (!hover || !bar || session.menu.value || shown) return null;
    const kind = trace.bundle.meta.kinds[bar.kind];
    const facts = [...factsOf(trace, bar), ...(further.bar === bar.bar ? further.facts : [])];
    // The operation's own facts, without unknown ones and those shown for the bar.
    const ofOp = onlyNew(factsOfOp(trace, bar.op), facts).filter(
        ([name, value]) => value !== "?" && (name === "note" || !facts.some(([other]) => other === name)),
    );
    return (
        <At x={hover.x} y={hover.y}>
            <b dir="auto">{trace.nameOf(bar)}</b>
            <Facts facts={[...facts, ...ofOp]} />
            {kind?.explain ? <p class="explain">{kind.explain}</p> : null}
        </At>
    );
}

export function RowTooltip({ session }: { session: Session }) {
    const hover = session.rowHover.value;
    if (!hover || session.menu.value) return null;
    return (
        <At x={hover.x} y={hover.y}>
            <b dir="auto">{hover.row.label}</b>
            <Facts facts={factsOfRow(session.trace, hover.row)} />
            <p class="hint">
                {hover.row.open === null ? "" : hover.row.open ? "click: collapse; " : "click: expand; "}
                right click: more
            </p>
        </At>
    );
}

const MOST_FLAGS = 12;

/** Communicators that were created or destroyed where the mouse is. */
export function FlagTooltip({ session }: { session: Session }) {
    const hover = session.flagHover.value;
    if (!hover || session.menu.value) return null;
    const { trace } = session;
    return (
        <At x={hover.x} y={hover.y}>
            {hover.flags.slice(0, MOST_FLAGS).map((flag) => (
                <>
                    <b dir="auto">{trace.bundle.strings.get(trace.bundle.flags.label[flag]!)}</b>
                    <Facts facts={factsOfFlag(trace, flag)} />
                </>
            ))}
            {hover.flags.length > MOST_FLAGS ? <p class="hint">and {hover.flags.length - MOST_FLAGS} more</p> : null}
        </At>
    );
}

/** At the mouse, and always within the window. */
function At({ x, y, children }: { x: number; y: number; children: preact.ComponentChildren }) {
    const box = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
        const element = box.current!;
        const { offsetWidth: width, offsetHeight: height } = element;
        const left = x + 14 + width < window.innerWidth ? x + 14 : Math.max(4, x - width - 14);
        const top =
            y + 16 + height < window.innerHeight
                ? y + 16
                : Math.max(4, Math.min(y - height - 12, window.innerHeight - height - 4));
        element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
    });
    return (
        <div class="tooltip" role="tooltip" ref={box}>
            {children}
        </div>
    );
}

export function Facts({ facts }: { facts: Fact[] }) {
    return (
        <dl>
            {facts.map(([name, value], i) => (
                <Pair key={i} name={name} value={value} />
            ))}
        </dl>
    );
}

function Pair({ name, value }: { name: string; value: string }) {
    return (
        <>
            <dt>{name}</dt>
            <dd dir="auto">{value}</dd>
        </>
    );
}
