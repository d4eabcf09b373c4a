// The strip over the timeline: the whole run, with the window in it to move and to make wider or narrower.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Session } from "../state/session";
import { NAMES_WIDTH } from "../timeline/geometry";
import { drawMinimap, grip } from "../timeline/minimap";
import { ColourTable } from "../scene/palette";
import { hangs } from "../scene/opening";
import { LEAST_NS, panBy, zoomAbout, type View } from "../scene/view";
import { duration } from "./words";

const HEIGHT = 36; // CSS pixels

interface Drag {
    what: ReturnType<typeof grip>;
    x: number;
    t0: number;
    t1: number;
    looked: boolean; // a part of it was noted for Backspace
}

/** From typical steps to all of the run and back. */
function Whole({ session }: { session: Session }) {
    const [now, whole, first] = [session.view.value, session.wholeView(), session.openingView()];
    const same = (a: View, b: View): boolean => a.t0 === b.t0 && a.t1 === b.t1;
    if (same(whole, first) && same(now, whole)) return null;
    const back = same(now, whole);
    return (
        <button
            title={back ? "what the page opened on (T)" : "all operations of the run (0)"}
            onClick={() => session.look(back ? first : whole)}
        >
            {back ? (hangs(session.trace.bundle) ? "the end" : "typical steps") : "whole run"}
        </button>
    );
}

export function Minimap({ session }: { session: Session }) {
    const { trace } = session;
    const { span, meta } = trace.bundle;
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const [width, setWidth] = useState(0);
    const drag = useRef<Drag | null>(null);
    const theme = session.theme.value;
    useEffect(() => {
        const observer = new ResizeObserver(() => setWidth(box.current!.clientWidth));
        observer.observe(box.current!);
        return () => observer.disconnect();
    }, []);
    useEffect(() => {
        if (width < 2) return undefined;
        let timer = 0;
        const colours = new ColourTable(meta.kinds, theme);
        const draw = (): void => {
            if (!canvas.current || drawMinimap(canvas.current, trace, colours)) return;
            timer = window.setTimeout(draw, 200); // the rest of the overview is on its way
        };
        // After the first picture: that one counts.
        timer = window.setTimeout(draw, 30);
        return () => clearTimeout(timer);
    }, [width, theme]);
    const x = (time: number): number => (span > 0 ? (time / span) * width : 0);
    const view = session.view.value;
    const [from, to] = [x(view.t0), x(view.t1)];
    const at = (event: PointerEvent): number => event.clientX - box.current!.getBoundingClientRect().x;
    const down = (event: PointerEvent): void => {
        if (event.button !== 0) return;
        box.current!.setPointerCapture(event.pointerId);
        const what = grip(at(event), from, to);
        const half = (view.t1 - view.t0) / 2;
        const middle = (at(event) / Math.max(1, width)) * span;
        const start = what === "new" ? { t0: middle - half, t1: middle + half } : view;
        if (what === "new") session.look(start);
        drag.current = { what: what === "new" ? "window" : what, x: at(event), ...start, looked: what === "new" };
    };
    const move = (event: PointerEvent): void => {
        const held = drag.current;
        if (!held || width < 2) {
            const over = grip(at(event), from, to);
            box.current!.style.cursor = over === "left" || over === "right" ? "ew-resize" : "grab";
            return;
        }
        const ns = ((at(event) - held.x) / width) * span;
        const t0 = held.what === "right" ? held.t0 : held.t0 + ns;
        const t1 = held.what === "left" ? held.t1 : held.t1 + ns;
        if (t1 - t0 < LEAST_NS) return;
        session.look({ t0, t1 }, held.looked);
        held.looked = true;
    };
    const key = (event: KeyboardEvent): void => {
        const step = { ArrowLeft: -0.5, ArrowRight: 0.5, PageUp: -1, PageDown: 1 }[event.key];
        if (step !== undefined) session.look(panBy(view, step * (view.t1 - view.t0), span));
        else if (event.key === "ArrowUp") session.look(zoomAbout(view, (view.t0 + view.t1) / 2, 0.7, span));
        else if (event.key === "ArrowDown") session.look(zoomAbout(view, (view.t0 + view.t1) / 2, 1 / 0.7, span));
        else return;
        event.preventDefault();
        event.stopPropagation();
    };
    const percent = span > 0 ? Math.round((100 * Math.max(0, view.t0)) / span) : 0;
    return (
        <div class="minimap" style={{ paddingLeft: `${NAMES_WIDTH}px` }}>
            <span class="of-run" style={{ width: `${NAMES_WIDTH - 16}px` }}>
                {duration(Math.min(view.t1, span) - Math.max(0, view.t0))} of {duration(span)}
                <Whole session={session} />
            </span>
            <div
                ref={box}
                class="strip"
                tabIndex={0}
                role="slider"
                aria-label="visible window in the whole run"
                aria-valuenow={percent}
                aria-valuetext={`${duration(view.t1 - view.t0)} from ${duration(Math.max(0, view.t0))}`}
                onPointerDown={down}
                onPointerMove={move}
                onPointerUp={() => (drag.current = null)}
                onKeyDown={key}
            >
                <canvas ref={canvas} width={Math.max(1, width)} height={HEIGHT} />
                {session.marks.value.map((mark, i) => (
                    <i class="mark" key={i} style={{ left: `${x(mark.t0)}px` }} />
                ))}
                <i class="shade" style={{ left: 0, width: `${Math.max(0, from)}px` }} />
                <i class="shade" style={{ left: `${to}px`, right: 0 }} />
                <i
                    class="window"
                    style={{
                        left: `${Math.max(0, from)}px`,
                        width: `${Math.max(2, Math.min(width, to) - Math.max(0, from))}px`,
                    }}
                />
            </div>
        </div>
    );
}
