// Ranks × operations: who waits, or who is late, at a glance and for thousands of ranks.

import { useEffect, useRef, useState } from "preact/hooks";
import { NONE } from "../data/layout";
import type { Session } from "../state/session";
import { Across, timeTicks } from "./axes";
import { heatGradient, heatOf, heatPixels, namesBeside, opsOf, type Heat, type HeatOf } from "./heat";
import { count, duration } from "./words";

/** CSS pixels: a rank of few is a broad band, of thousands a line or less. */
const TALLEST = 560;
const HIGHEST_RANK = 18;
/** Hosts whose names have room beside the map. */
const LEAST_NAME = 13;
/** Labels of the time axis. */
const TIMES = 5;

interface Cell {
    rank: number;
    column: number;
}

export function HeatMap({ session }: { session: Session }) {
    const [of, setOf] = useState<HeatOf>("wait");
    const [windowOnly, setWindowOnly] = useState(false);
    const [heat, setHeat] = useState<Heat>();
    const [under, setUnder] = useState<Cell>();
    const canvas = useRef<HTMLCanvasElement>(null);
    const box = useRef<HTMLDivElement>(null);
    const { trace } = session;
    const { ops, groups, strings } = trace.bundle;
    const view = windowOnly ? session.view.value : undefined;
    useEffect(() => {
        let over = false;
        const timer = setTimeout(async () => {
            const [from, to] = view ? trace.opsFrom(view.t0, view.t1) : [0, ops.count];
            const pause = (): Promise<boolean> => new Promise((resolve) => setTimeout(() => resolve(!over)));
            const columns = Math.max(50, Math.min(1000, canvas.current?.clientWidth ?? 300));
            const found = await heatOf(trace, of, from, to, columns, pause);
            if (found && !over) setHeat(found);
        }, 150);
        return () => {
            over = true;
            clearTimeout(timer);
        };
    }, [of, view?.t0, view?.t1]);
    const height = heat ? Math.max(1, Math.min(TALLEST, heat.ranks * HIGHEST_RANK)) : 1;
    useEffect(() => {
        const element = canvas.current;
        if (!heat || !element) return;
        element.width = heat.columns;
        element.height = Math.max(1, Math.min(heat.ranks, TALLEST));
        const image = new ImageData(element.width, element.height);
        image.data.set(heatPixels(heat, element.height));
        element.getContext("2d")!.putImageData(image, 0, 0);
    }, [heat]);
    if (ops.count === 0) return <p class="hint">No operations.</p>;
    const cellAt = (event: MouseEvent): Cell | undefined => {
        if (!heat || !canvas.current) return undefined;
        const column = Math.floor((event.offsetX / canvas.current.clientWidth) * heat.columns);
        const rank = Math.floor((event.offsetY / canvas.current.clientHeight) * heat.ranks);
        return rank >= 0 && rank < heat.ranks && column >= 0 && column < heat.columns ? { rank, column } : undefined;
    };
    const barAt = async (at: Cell, heat: Heat): Promise<number | null> => {
        const { members } = trace.bundle;
        // Of the operations of the column in which the rank took part, the one with the longest wait.
        const [from, to] = opsOf(trace, heat, at.column);
        let best: { bar: number; wait: number } | undefined;
        for (let op = from; op < to && op < from + 500; op++)
            for (const part of await trace.partsOf(op)) {
                if (members.group[part.member] !== heat.groups[at.rank] || part.bar === NONE) continue;
                const wait = part.wait || 0;
                if (!best || wait > best.wait) best = { bar: part.bar, wait };
            }
        if (!best) session.message.value = "this rank took part in none of these operations";
        return best?.bar ?? null;
    };
    const go = (at: Cell | undefined): void => {
        if (at && heat) void session.jump(barAt(at, heat));
    };
    const key = (event: KeyboardEvent): void => {
        if (!heat) return;
        const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
        const at = under ?? { rank: 0, column: 0 };
        if (event.key === "Enter") go(at);
        else if (step)
            setUnder({
                rank: Math.min(heat.ranks - 1, Math.max(0, at.rank + step[0]!)),
                column: Math.min(heat.columns - 1, Math.max(0, at.column + step[1]!)),
            });
        else return;
        event.preventDefault();
        event.stopPropagation();
    };
    const words = (at: Cell): string => {
        const [from, to] = opsOf(trace, heat!, at.column);
        const what =
            from < to ? trace.opName(from) + (to - from > 1 ? ` and ${count(to - from - 1)} more` : "") : "none";
        const value = heat!.mean[at.rank * heat!.columns + at.column]!;
        const who = strings.get(groups.label[heat!.groups[at.rank]!]!);
        return `${who}, ${what}: ${Number.isNaN(value) ? "did not take part" : duration(value)}`;
    };
    return (
        <div class="heat">
            <p class="tools">
                <label>
                    mean{" "}
                    <select value={of} onChange={(e) => setOf(e.currentTarget.value as HeatOf)}>
                        <option value="wait">wait for the last rank</option>
                        <option value="lateness">lateness after the first rank</option>
                    </select>
                </label>
                <label>
                    <input
                        type="checkbox"
                        checked={windowOnly}
                        onChange={(e) => setWindowOnly(e.currentTarget.checked)}
                    />{" "}
                    only what the timeline shows
                </label>
            </p>
            <p class="hint">
                {of === "wait"
                    ? "A dark line among bright ones is the rank that the others waited for."
                    : "A bright line is a rank that arrived late."}
            </p>
            <div class="map" ref={box}>
                <div class="hosts" aria-hidden="true">
                    {heat
                        ? namesBeside(trace, heat.groups)
                              .filter((host) => ((host.to - host.from) / heat.ranks) * height >= LEAST_NAME)
                              .map((host) => (
                                  <span key={host.from} style={{ top: `${(host.from / heat.ranks) * height}px` }}>
                                      {host.name}
                                  </span>
                              ))
                        : null}
                </div>
                <canvas
                    ref={canvas}
                    style={{ height: `${height}px` }}
                    tabIndex={0}
                    role="img"
                    onClick={(e) => go(cellAt(e))}
                    onMouseMove={(e) => setUnder(cellAt(e))}
                    onMouseLeave={() => setUnder(undefined)}
                    onKeyDown={key}
                    aria-label={`heat map of ${heat?.ranks ?? 0} ranks; arrow keys move, Enter goes there`}
                />
                <span class="corner" aria-hidden="true">
                    rank ↑
                </span>
                {heat ? <Across title="start of the operations" ticks={timeTicks(heat.t0, heat.t1, TIMES)} /> : null}
            </div>
            <div class="scale">
                <span>0</span>
                <i style={{ background: heatGradient() }} />
                <span>{heat ? duration(heat.most) : "…"}</span>
            </div>
            <p aria-live="polite">{heat && under ? words(under) : "\u00a0"}</p>
            <p class="hint">
                {heat
                    ? `${count(heat.ranks)} ranks down, ${count(heat.opTo - heat.opFrom)} operations across by time. ` +
                      `Grey: did not take part. Click to go to the operation.`
                    : "reading…"}
            </p>
        </div>
    );
}
