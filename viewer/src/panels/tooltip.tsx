// What hangs at the mouse: the most important of the bar, or of the row, under it.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Session } from "../state/session";
import { factsOf, factsOfFlag, factsOfOp, factsOfRow, furtherFacts, onlyNew, type Fact } from "./facts";

/** Lines of a tooltip, with its heading: more would cover what it is about. The details have the rest. */
const MOST_LINES = 6;

/** Facts by what one wants to know first. */
const FIRST = [
    "duration",
    "wait",
    "note",
    "where",
    "start",
    "size",
    "bytes",
    "peer",
    "bus bandwidth",
    "last",
    "end",
    "to",
];

/** The most important facts, in their usual order. */
export function briefly(facts: Fact[]): Fact[] {
    const known = facts.filter(([name, value], i) => {
        const again = facts.findIndex((other) => other[0] === name) < i; // one of each
        return (
            FIRST.includes(name) && value !== "?" && !again && !(name === "bytes" && facts.some(([n]) => n === "size"))
        );
    });
    const chosen = [...known].sort((a, b) => FIRST.indexOf(a[0]) - FIRST.indexOf(b[0])).slice(0, MOST_LINES - 1);
    return facts.filter((fact) => chosen.includes(fact));
}

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
    const facts = [...factsOf(trace, bar), ...(further.bar === bar.bar ? further.facts : [])];
    // The operation's own facts, without unknown ones and those shown for the bar.
    const ofOp = onlyNew(factsOfOp(trace, bar.op), facts).filter(
        ([name, value]) => value !== "?" && (name === "note" || !facts.some(([other]) => other === name)),
    );
    return (
        <At x={hover.x} y={hover.y}>
            <b dir="auto">{trace.nameOf(bar)}</b>
            <Facts facts={briefly([...facts, ...ofOp])} />
        </At>
    );
}

export function RowTooltip({ session }: { session: Session }) {
    const hover = session.rowHover.value;
    if (!hover || session.menu.value) return null;
    return (
        <At x={hover.x} y={hover.y}>
            <b dir="auto">{hover.row.label}</b>
            <Facts facts={factsOfRow(session.trace, hover.row).slice(0, MOST_LINES - 2)} />
            <p class="hint">
                {hover.row.open === null ? "" : hover.row.open ? "click: collapse; " : "click: expand; "}
                right click: more
            </p>
        </At>
    );
}

/** Communicators that were created or destroyed where the mouse is. */
export function FlagTooltip({ session }: { session: Session }) {
    const hover = session.flagHover.value;
    if (!hover || session.menu.value) return null;
    const { trace } = session;
    const label = (flag: number): string => trace.bundle.strings.get(trace.bundle.flags.label[flag]!);
    const shown = hover.flags.length > MOST_LINES ? MOST_LINES - 1 : MOST_LINES;
    return (
        <At x={hover.x} y={hover.y}>
            {hover.flags.length === 1 ? (
                <>
                    <b dir="auto">{label(hover.flags[0]!)}</b>
                    <Facts facts={factsOfFlag(trace, hover.flags[0]!)} />
                </>
            ) : (
                <Facts
                    facts={hover.flags.slice(0, shown).map((flag) => [factsOfFlag(trace, flag)[0]![1], label(flag)])}
                />
            )}
            {hover.flags.length > shown ? <p class="hint">and {hover.flags.length - shown} more</p> : null}
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
