// Ranks × operations: who waits, or who is late, at a glance and for thousands of ranks.

import { useEffect, useRef, useState } from "preact/hooks";
import { NONE } from "../data/layout";
import type { Session } from "../state/session";
import { heatColour, heatOf, opsOf, type Heat, type HeatOf } from "./heat";
import { duration } from "./words";

const MOST_COLUMNS = 600;

export function HeatMap({ session }: { session: Session }) {
    const [of, setOf] = useState<HeatOf>("wait");
    const [window_, setWindow] = useState(false);
    const [heat, setHeat] = useState<Heat>();
    const [under, setUnder] = useState("");
    const canvas = useRef<HTMLCanvasElement>(null);
    const { trace } = session;
    const view = window_ ? session.view.value : undefined;
    useEffect(() => {
        let over = false;
        const timer = setTimeout(async () => {
            const [from, to] = view ? trace.opsFrom(view.t0, view.t1) : [0, trace.bundle.ops.count];
            const pause = (): Promise<boolean> => new Promise((resolve) => setTimeout(() => resolve(!over)));
            const found = await heatOf(trace, of, from, to, MOST_COLUMNS, pause);
            if (found && !over) setHeat(found);
        }, 150);
        return () => {
            over = true;
            clearTimeout(timer);
        };
    }, [of, view?.t0, view?.t1]);
    useEffect(() => {
        if (heat && canvas.current) draw(canvas.current, heat);
    }, [heat]);
    const cell = (event: MouseEvent): { rank: number; column: number } | undefined => {
        if (!heat || !canvas.current) return undefined;
        const column = Math.floor((event.offsetX / canvas.current.clientWidth) * heat.columns);
        const rank = Math.floor((event.offsetY / canvas.current.clientHeight) * heat.ranks);
        return rank >= 0 && rank < heat.ranks && column >= 0 && column < heat.columns ? { rank, column } : undefined;
    };
    const go = async (event: MouseEvent): Promise<void> => {
        const at = cell(event);
        if (!at || !heat) return;
        const { members } = trace.bundle;
        // The first operation of the column in which the rank took part.
        const [from, to] = opsOf(trace, heat, at.column);
        for (let op = from; op < to; op++) {
            const part = (await trace.partsOf(op)).find(
                (p) => members.globalRank[p.member] === at.rank && p.bar !== NONE,
            );
            if (!part) continue;
            await session.jump(part.bar);
            session.panel.value = "heat";
            return;
        }
    };
    const move = (event: MouseEvent): void => {
        const at = cell(event);
        if (!at || !heat) return setUnder("");
        const [from, to] = opsOf(trace, heat, at.column);
        const words =
            from < to ? trace.opName(from) + (to - from > 1 ? ` and ${to - from - 1} more` : "") : "no operation";
        const value = heat.mean[at.rank * heat.columns + at.column]!;
        setUnder(`rank ${at.rank}, ${words}: ${Number.isNaN(value) ? "not in it" : duration(value)}`);
    };
    return (
        <div class="heat">
            <p>
                <label>
                    mean{" "}
                    <select value={of} onChange={(e) => setOf(e.currentTarget.value as HeatOf)}>
                        <option value="wait">wait for the last rank</option>
                        <option value="lateness">lateness after the first rank</option>
                    </select>
                </label>{" "}
                <label>
                    <input type="checkbox" checked={window_} onChange={(e) => setWindow(e.currentTarget.checked)} />{" "}
                    only what the timeline shows
                </label>
            </p>
            <p class="hint">
                {heat
                    ? `${heat.ranks} ranks down, ${heat.opTo - heat.opFrom} operations across; bright is ${duration(heat.most)}`
                    : "reading…"}
            </p>
            <canvas
                ref={canvas}
                onClick={(e) => void go(e)}
                onMouseMove={move}
                onMouseLeave={() => setUnder("")}
                aria-label="heat map of ranks and operations"
            />
            <p>{under || "\u00a0"}</p>
        </div>
    );
}

function draw(canvas: HTMLCanvasElement, heat: Heat): void {
    canvas.width = heat.columns;
    canvas.height = Math.max(1, heat.ranks);
    // A rank is at least a pixel high; few ranks are shown larger.
    canvas.style.height = `${Math.min(1200, Math.max(heat.ranks, Math.min(420, heat.ranks * 18)))}px`;
    const context = canvas.getContext("2d")!;
    const image = context.createImageData(canvas.width, canvas.height);
    for (let i = 0; i < heat.mean.length; i++) {
        const value = heat.mean[i]!;
        const [r, g, b] = Number.isNaN(value) ? [128, 128, 128] : heatColour(heat.most > 0 ? value / heat.most : 0);
        image.data.set([r!, g!, b!, Number.isNaN(value) ? 40 : 255], i * 4);
    }
    context.putImageData(image, 0, 0);
}
