// Axes of the heat map and the matrix: a title, and labels where there is room for them.

import { niceStep } from "../timeline/ruler";
import { moment } from "./words";

export interface Tick {
    /** 0: at the begin, 1: at the end. */
    at: number;
    label: string;
}

/** Numbers 0 .. size - 1 in the middle of their cells, every so many that at most `most` are labelled. */
export function rankTicks(size: number, most: number): Tick[] {
    const step = Math.max(1, niceStep(Math.ceil(size / Math.max(1, most))));
    const ticks: Tick[] = [];
    for (let i = 0; i < size; i += step) ticks.push({ at: (i + 0.5) / size, label: String(i) });
    return ticks;
}

/** Moments between t0 and t1. */
export function timeTicks(t0: number, t1: number, most: number): Tick[] {
    const step = niceStep((t1 - t0) / Math.max(1, most));
    const ticks: Tick[] = [];
    for (let k = Math.ceil(t0 / step); k * step <= t1 && ticks.length < 100; k++)
        ticks.push({ at: (k * step - t0) / (t1 - t0), label: moment(k * step, step) });
    return ticks;
}

export function Across({ title, ticks, width }: { title: string; ticks: Tick[]; width?: string }) {
    return (
        <div class="axis across" style={width ? { maxWidth: width } : {}} aria-hidden="true">
            {ticks.map((tick) => (
                <span key={tick.label} style={{ left: `${100 * tick.at}%` }}>
                    {tick.label}
                </span>
            ))}
            <i>{title}</i>
        </div>
    );
}

export function Down({ title, ticks }: { title: string; ticks: Tick[] }) {
    return (
        <div class="axis down" aria-hidden="true">
            <i>{title}</i>
            {ticks.map((tick) => (
                <span key={tick.label} style={{ top: `${100 * tick.at}%` }}>
                    {tick.label}
                </span>
            ))}
        </div>
    );
}
