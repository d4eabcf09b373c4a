// What hangs at the mouse: everything known of the bar under it.

import type { Session } from "../state/session";
import { factsOf, factsOfOp } from "./facts";

export function Tooltip({ session }: { session: Session }) {
    const hover = session.hover.value;
    if (!hover) return null;
    const { bar } = hover;
    const { trace } = session;
    const kind = trace.bundle.meta.kinds[bar.kind];
    const left = Math.min(hover.x + 14, window.innerWidth - 400);
    const below = hover.y < window.innerHeight * 0.6;
    const place = below ? { left, top: hover.y + 16 } : { left, bottom: window.innerHeight - hover.y + 12 };
    return (
        <div class="tooltip" style={place} role="tooltip">
            <b>{trace.nameOf(bar)}</b>
            <dl>
                {[...factsOf(trace, bar), ...factsOfOp(trace, bar.op)].map(([name, value], i) => (
                    <Pair key={i} name={name} value={value} />
                ))}
            </dl>
            {kind?.explain ? <p>{kind.explain}</p> : null}
        </div>
    );
}

export function Pair({ name, value }: { name: string; value: string }) {
    return (
        <>
            <dt>{name}</dt>
            <dd>{value}</dd>
        </>
    );
}
