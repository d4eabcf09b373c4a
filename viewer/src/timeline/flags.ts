// Flags: when communicators were created (filled) and destroyed (hollow), on the row of their rank or communicator.

import { lowerBound } from "../data/chunks";
import type { Trace } from "../data/trace";
import type { Geometry } from "./geometry";
import type { Row } from "../scene/layout";
import { CHARACTER } from "./margins";
import type { Theme } from "../scene/palette";

/** Flags that are drawn at one time: more is a hedge. */
const MOST_FLAGS = 2000;
const WIDTH = 8; // CSS pixels
const HEIGHT = 9;

export function isDestroyed(trace: Trace, flag: number): boolean {
    return trace.bundle.flags.kind[flag] === 1;
}

/** With words where there is room. */
export function drawFlags(c: CanvasRenderingContext2D, trace: Trace, geometry: Geometry, theme: Theme): void {
    const { flags, strings } = trace.bundle;
    const lastX = new Map<Row, number>();
    let drawn = 0;
    const most = Math.abs(geometry.shifts[1] ?? 0); // the second of two runs may be moved either way
    for (let i = lowerBound(flags.time, geometry.view.t1 + most) - 1; i >= 0 && drawn < MOST_FLAGS; i--) {
        const time = flags.time[i]! + geometry.shift(flags.group[i]!);
        if (flags.time[i]! < geometry.view.t0 - most) break;
        const row = rowOf(geometry, flags.group[i]!);
        if (!row) continue;
        const x = geometry.x(time);
        const y = geometry.rowY(row);
        const next = lastX.get(row) ?? Infinity;
        if (y + row.height < geometry.rowsTop || y > geometry.height || next - x < 3) continue;
        lastX.set(row, x);
        drawn++;
        const label = strings.get(flags.label[i]!);
        c.fillStyle = theme.sameOp;
        c.strokeStyle = theme.sameOp;
        c.lineWidth = 1.2;
        c.fillRect(x - 0.5, y + 1, 1.2, row.height - 2);
        c.beginPath();
        c.moveTo(x, y + 1.5);
        c.lineTo(x + WIDTH, y + 5);
        c.lineTo(x, y + HEIGHT - 0.5);
        if (isDestroyed(trace, i)) c.stroke();
        else c.fill();
        // Words only where no bars are: on the heading of the communicator.
        if (row.lanes.length > 0 || next - x < 24 + label.length * CHARACTER) continue;
        c.fillStyle = theme.dim;
        c.fillText(label, x + 11, y + row.height / 2 + 0.5);
    }
}

/** The flags under a point, all that overlap there; on a row with bars only their upper part counts. */
export function flagsAt(trace: Trace, geometry: Geometry, row: Row, x: number, y: number): number[] {
    const { flags } = trace.bundle;
    if (row.lanes.length > 0 && y > geometry.rowY(row) + HEIGHT) return [];
    const by = geometry.shift(row.group);
    const from = lowerBound(flags.time, geometry.time(x - WIDTH) - by);
    const to = lowerBound(flags.time, geometry.time(x + 2) - by);
    const found: number[] = [];
    for (let i = from; i < to && found.length < MOST_FLAGS; i++)
        if (rowOf(geometry, flags.group[i]!) === row) found.push(i);
    return found;
}

function rowOf(geometry: Geometry, group: number): Row | undefined {
    return geometry.layout.rows[geometry.layout.rowOfGroup[group] ?? -1];
}
