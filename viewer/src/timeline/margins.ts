// What stands around the bars: the ruler with its grid, the names of the rows, and the flags of communicators.

import { Level } from "../data/bundle";
import { lowerBound } from "../data/chunks";
import type { Trace } from "../data/trace";
import { NAMES_WIDTH, RULER_HEIGHT, type Geometry } from "./geometry";
import type { Row } from "./layout";
import type { Theme } from "./palette";
import { duration, longDuration, niceStep, tickBase, tickWords } from "./ruler";

export const FONT = "11px system-ui, sans-serif";
const BOLD = "600 11px system-ui, sans-serif";
export const CHARACTER = 6.3; // mean width in that font: text is cut by count, measuring each costs more than drawing it
const NOT_KNOWN = "clocks cannot be compared";
const INDENT = 11;
/** Flags that are drawn at one time: more is a hedge. */
const MOST_FLAGS = 2000;

export class Margins {
    private readonly clockError: string;

    constructor(
        private readonly trace: Trace,
        private readonly context: CanvasRenderingContext2D,
    ) {
        const error = largest(trace.bundle.groups.error);
        // One clock alone has nothing to be compared with.
        this.clockError = error === 0 ? "" : Number.isFinite(error) ? `clock error ≤ ${duration(error)}` : NOT_KNOWN;
    }

    rulerAndGrid(geometry: Geometry, theme: Theme): void {
        const c = this.context;
        c.fillStyle = theme.background;
        c.fillRect(0, 0, geometry.width, RULER_HEIGHT);
        const { t0, t1 } = geometry.view;
        const step = niceStep(96 / geometry.scale);
        const base = tickBase(t0, t1, step);
        for (let k = Math.ceil(t0 / step); k * step < t1; k++) {
            const x = Math.round(geometry.x(k * step));
            c.fillStyle = theme.grid;
            c.globalAlpha = 0.55;
            c.fillRect(x, RULER_HEIGHT - 7, 1, geometry.height);
            c.globalAlpha = 1;
            c.fillStyle = theme.dim;
            c.fillText(tickWords(k * step, step, base), x + 4, RULER_HEIGHT / 2);
        }
        c.fillStyle = theme.grid;
        c.fillRect(0, RULER_HEIGHT - 1, geometry.width, 1);
        // Over the ticks that begin left of the rows.
        c.fillStyle = theme.background;
        c.fillRect(0, 0, NAMES_WIDTH - 1, RULER_HEIGHT - 1);
        c.fillStyle = theme.dim;
        c.fillText(this.clockError, 8, RULER_HEIGHT / 2);
        if (base === 0) return;
        c.textAlign = "right";
        c.fillStyle = theme.text;
        c.fillText(`${longDuration(base)} +`, NAMES_WIDTH - 6, RULER_HEIGHT / 2);
        c.textAlign = "left";
    }

    /** Creation and destruction of communicators: a filled and a hollow flag, with words where there is room. */
    flags(geometry: Geometry, theme: Theme): void {
        const { flags, strings, meta } = this.trace.bundle;
        const c = this.context;
        const lastX = new Map<Row, number>();
        let drawn = 0;
        for (let i = lowerBound(flags.time, geometry.view.t1) - 1; i >= 0 && drawn < MOST_FLAGS; i--) {
            const time = flags.time[i]!;
            if (time < geometry.view.t0) break;
            const row = geometry.layout.rows[geometry.layout.rowOfGroup[flags.group[i]!] ?? -1];
            if (!row) continue;
            const x = geometry.x(time);
            const y = geometry.rowY(row);
            const next = lastX.get(row) ?? Infinity;
            if (y + row.height < geometry.rowsTop || y > geometry.height || next - x < 3) continue;
            lastX.set(row, x);
            drawn++;
            const label = strings.get(flags.label[i]!);
            const gone = /destroy|abort|final/i.test(`${meta.kinds[flags.kind[i]!]?.id ?? ""} ${label}`);
            c.fillStyle = theme.sameOp;
            c.strokeStyle = theme.sameOp;
            c.lineWidth = 1.2;
            c.fillRect(x - 0.5, y + 1, 1.2, row.height - 2);
            c.beginPath();
            c.moveTo(x, y + 1.5);
            c.lineTo(x + 8, y + 5);
            c.lineTo(x, y + 8.5);
            if (gone) c.stroke();
            else c.fill();
            // Words only where no bars are: on the heading of the communicator.
            if (row.lanes.length > 0 || next - x < 24 + label.length * CHARACTER) continue;
            c.fillStyle = theme.dim;
            c.fillText(label, x + 11, y + row.height / 2 + 0.5);
        }
    }

    names(geometry: Geometry, theme: Theme): void {
        const c = this.context;
        c.fillStyle = theme.background;
        c.fillRect(0, RULER_HEIGHT, NAMES_WIDTH, geometry.height);
        c.save();
        c.beginPath();
        c.rect(0, RULER_HEIGHT, NAMES_WIDTH - 1, geometry.height);
        c.clip();
        c.direction = "ltr"; // names may be right-to-left: they still begin at the left
        geometry.eachRow((row) => !row.pinned && this.name(row, geometry, theme));
        geometry.eachRow((row) => row.pinned && this.name(row, geometry, theme));
        c.restore();
        c.fillStyle = theme.grid;
        c.fillRect(NAMES_WIDTH - 1, 0, 1, geometry.height);
        if (geometry.layout.pinnedHeight > 0) c.fillRect(0, geometry.rowsTop - 1, geometry.width, 2);
        if (geometry.layout.rows.length === 0) this.nothing(geometry, theme);
    }

    private name(row: Row, geometry: Geometry, theme: Theme): void {
        const c = this.context;
        const y = geometry.rowY(row);
        const host = this.trace.bundle.groups.level[row.group] === Level.Host && row.open !== null;
        c.fillStyle = row.lanes.length === 0 || row.pinned ? theme.heading : theme.background;
        c.fillRect(0, y, NAMES_WIDTH, row.height);
        const middle = y + row.height / 2 + 0.5;
        const left = 8 + row.depth * INDENT;
        const mark = row.open === null ? (row.pinned ? "•" : "") : row.open ? "▾" : "▸";
        c.fillStyle = theme.dim;
        if (mark) c.fillText(mark, left, middle);
        const from = left + (row.open === null && !row.pinned ? 0 : 13);
        const room = Math.max(1, Math.floor((NAMES_WIDTH - from - 8) / CHARACTER));
        c.font = host ? BOLD : FONT;
        c.fillStyle = row.open === null && !row.pinned ? theme.dim : theme.text;
        c.fillText(cut(row.label, room), from, middle);
        c.font = FONT;
        // Where it belongs, as far as there is room beside the label.
        const left2 = room - row.label.length - 2;
        if (row.context === "" || left2 < 5 || row.height < 12) return;
        c.fillStyle = theme.dim;
        c.globalAlpha = 0.85;
        c.textAlign = "right";
        c.fillText(cut(row.context, left2), NAMES_WIDTH - 8, middle);
        c.textAlign = "left";
        c.globalAlpha = 1;
    }

    private nothing(geometry: Geometry, theme: Theme): void {
        const c = this.context;
        const { lanes } = this.trace.bundle;
        c.fillStyle = theme.dim;
        c.fillText(
            lanes.count === 0 ? "There is nothing to draw in these data." : "All rows are switched off or hidden.",
            NAMES_WIDTH + 24,
            geometry.rowsTop + 32,
        );
    }
}

export function cut(text: string, room: number): string {
    return text.length > room ? `${text.slice(0, Math.max(1, room - 1))}…` : text;
}

function largest(values: ArrayLike<number>): number {
    let most = NaN;
    for (let i = 0; i < values.length; i++) if (!(values[i]! <= most) && Number.isFinite(values[i]!)) most = values[i]!;
    return most;
}
