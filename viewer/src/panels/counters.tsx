// Counters as tracks above the rows, on their time axis: each with its own scale, and the value under the mouse.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Session } from "../state/session";
import { COUNTERS, Counters, scopesOf, type CounterId } from "../scene/counters";
import { NAMES_WIDTH } from "../timeline/geometry";
import { bandwidth, bytes, duration } from "./words";

const HEIGHT = 30; // CSS pixels of a track

const words = (id: CounterId, value: number): string =>
    value === 0 ? "0" : id === "bytes" ? bytes(value) : id === "busbw" ? bandwidth(value) : duration(value);

export function CounterTracks({ session }: { session: Session }) {
    return session.counters.value ? <Tracks session={session} /> : null;
}

function Tracks({ session }: { session: Session }) {
    const { trace } = session;
    const scopes = useMemo(() => scopesOf(trace.bundle), [trace]);
    const [chosen, setChosen] = useState(0);
    const scope = scopes[chosen] ?? scopes[0]!;
    const counters = useMemo(() => new Counters(trace.bundle, scope, (op) => trace.leastWait(op)), [trace, scope]);
    const box = useRef<HTMLDivElement>(null);
    const [width, setWidth] = useState(0);
    const [mouse, setMouse] = useState(-1);
    useEffect(() => {
        const observer = new ResizeObserver(() => setWidth(Math.floor(box.current!.clientWidth)));
        observer.observe(box.current!);
        return () => observer.disconnect();
    }, []);
    const { t0, t1 } = session.view.value;
    const by = session.shift([...scope.groups][0] ?? 0);
    const folded = COUNTERS.map(({ id }) => counters.fold(id, t0 - by, t1 - by, Math.max(1, width)));
    return (
        <div class="counters" style={{ paddingLeft: `${NAMES_WIDTH}px` }}>
            <select
                aria-label="what the counters are of"
                value={String(chosen)}
                onChange={(e) => setChosen(Number(e.currentTarget.value))}
            >
                {scopes.map(({ label }, i) => (
                    <option key={i} value={String(i)}>
                        {label}
                    </option>
                ))}
            </select>
            <div
                ref={box}
                onMouseMove={(e) => setMouse(Math.floor(e.clientX - e.currentTarget.getBoundingClientRect().x))}
                onMouseLeave={() => setMouse(-1)}
            >
                {COUNTERS.map(({ id, label, text }, i) => (
                    <Track
                        key={id}
                        label={label}
                        text={text}
                        values={folded[i]!}
                        under={mouse >= 0 && mouse < width ? words(id, folded[i]![mouse]!) : ""}
                        most={words(
                            id,
                            folded[i]!.reduce((a, b) => Math.max(a, b), 0),
                        )}
                    />
                ))}
            </div>
        </div>
    );
}

function Track(props: { label: string; text: string; values: Float64Array; under: string; most: string }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const { label, text, values, under, most } = props;
    useEffect(() => {
        const element = canvas.current!;
        const ratio = window.devicePixelRatio || 1;
        element.width = Math.max(1, Math.round(values.length * ratio));
        element.height = Math.round(HEIGHT * ratio);
        const c = element.getContext("2d")!;
        c.scale(ratio, ratio);
        c.fillStyle = getComputedStyle(element).color;
        const top = values.reduce((a, b) => Math.max(a, b), 0);
        values.forEach((value, x) => {
            if (value <= 0) return;
            const high = Math.max(1, ((HEIGHT - 4) * value) / top);
            c.fillRect(x, HEIGHT - high, 1, high);
        });
    });
    return (
        <div class="track" title={text}>
            <span class="name" style={{ left: `${-NAMES_WIDTH + 8}px` }}>
                {label} <b>{under}</b>
            </span>
            <span class="most">{most}</span>
            <canvas ref={canvas} role="img" aria-label={`${label} over time, at most ${most} in this window`} />
        </div>
    );
}
