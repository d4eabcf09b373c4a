// What stands around the bars: the ruler with its grid, and the names of the rows.

import { Level } from "../data/bundle";
import type { Trace } from "../data/trace";
import { NAMES_WIDTH, RULER_HEIGHT, type Geometry } from "./geometry";
import type { Row } from "../scene/layout";
import type { Theme } from "../scene/palette";
import { clockWords, dayOf, duration, longDuration, niceStep, tickBase, tickWords, wallTime } from "./ruler";

export const FONT = "11px system-ui, sans-serif";
const BOLD = "600 11px system-ui, sans-serif";
/** Mean width in that font, where an estimate will do. */
export const CHARACTER = 6.3;
const NOT_KNOWN = "starts not compared";
const SMALL = "9.5px system-ui, sans-serif";
const INDENT = 11;
/** Heights of the two lines of the ruler: times of the run, and times of day. */
const TICKS = 10;
const CLOCK = 22;
/** Texts whose widths are kept. */
const MOST_KNOWN = 10_000;

export class Margins {
    private readonly clockError: string;
    /** Wall time of 0 s, and its day; undefined: the times have no date. */
    private readonly wall: bigint | undefined;
    private readonly day: string;
    private readonly known = new Map<string, { text: string; width: number }>();

    constructor(
        private readonly trace: Trace,
        private readonly context: CanvasRenderingContext2D,
    ) {
        this.wall = wallTime(trace.bundle.meta.begin_ns);
        this.day = this.wall === undefined ? "" : `${dayOf(this.wall)} UTC`;
        const error = trace.bundle.meta.report?.clock_error_ns;
        this.clockError = error === null ? NOT_KNOWN : error ? `clock error ≤ ${duration(error)}` : ""; // none: old bundles
    }

    rulerAndGrid(geometry: Geometry, theme: Theme): void {
        const c = this.context;
        c.fillStyle = theme.background;
        c.fillRect(0, 0, geometry.width, RULER_HEIGHT);
        const { t0, t1 } = geometry.view;
        const step = niceStep(96 / geometry.scale);
        const base = tickBase(t0, t1, step);
        let free = NAMES_WIDTH; // where the next time of day may begin
        for (let k = Math.ceil(t0 / step); k * step < t1; k++) {
            const x = Math.round(geometry.x(k * step));
            c.fillStyle = theme.grid;
            c.globalAlpha = 0.55;
            c.fillRect(x, RULER_HEIGHT - 7, 1, geometry.height);
            c.globalAlpha = 1;
            c.fillStyle = theme.dim;
            c.fillText(tickWords(k * step, step, base), x + 4, TICKS);
            if (this.wall === undefined || x < free) continue;
            c.font = SMALL;
            const clock = clockWords(this.wall, k * step, step);
            c.globalAlpha = 0.85;
            c.fillText(clock, x + 4, CLOCK);
            c.globalAlpha = 1;
            free = x + c.measureText(clock).width + 10;
            c.font = FONT;
        }
        c.fillStyle = theme.grid;
        c.fillRect(0, RULER_HEIGHT - 1, geometry.width, 1);
        // Over the ticks that begin left of the rows.
        c.fillStyle = theme.background;
        c.fillRect(0, 0, NAMES_WIDTH - 1, RULER_HEIGHT - 1);
        c.fillStyle = theme.dim;
        c.fillText(this.clockError, 8, TICKS);
        c.textAlign = "right";
        if (this.wall !== undefined) {
            c.font = SMALL;
            c.fillText(this.day, NAMES_WIDTH - 6, CLOCK);
            c.font = FONT;
        }
        c.fillStyle = theme.text;
        if (base > 0) c.fillText(`${longDuration(base)} +`, NAMES_WIDTH - 6, TICKS);
        c.textAlign = "left";
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
        const host = this.trace.bundle.groups.level[row.group]! <= Level.Host && row.open !== null;
        c.fillStyle = row.lanes.length === 0 || row.pinned ? theme.heading : theme.background;
        c.fillRect(0, y, NAMES_WIDTH, row.height);
        const middle = y + row.height / 2 + 0.5;
        const left = 8 + row.depth * INDENT;
        const mark = row.open === null ? (row.pinned ? "•" : "") : row.open ? "▾" : "▸";
        c.fillStyle = theme.dim;
        if (mark) c.fillText(mark, left, middle);
        const from = left + (row.open === null && !row.pinned ? 0 : 13);
        const room = NAMES_WIDTH - from - 8;
        c.font = host ? BOLD : FONT;
        c.fillStyle = row.open === null && !row.pinned ? theme.dim : theme.text;
        const label = this.fitted(row.label, room, host);
        c.fillText(label.text, from, middle);
        c.font = FONT;
        // Where it belongs, as far as there is room beside the label; what a lane is fits whole or is left to the
        // hover.
        if (row.context === "" || row.height < 12) return;
        const beside = this.fitted(row.context, room - label.width - 10);
        if (beside.text.length < 5 || (row.open === null && !row.pinned && beside.text !== row.context)) return;
        c.fillStyle = theme.dim;
        c.globalAlpha = 0.85;
        c.textAlign = "right";
        c.fillText(beside.text, NAMES_WIDTH - 8, middle);
        c.textAlign = "left";
        c.globalAlpha = 1;
    }

    /** A text cut to a width in the font that is set; measured once. */
    private fitted(text: string, room: number, bold = false): { text: string; width: number } {
        const key = `${Math.round(room)} ${bold} ${text}`;
        let known = this.known.get(key);
        if (!known) {
            const { width } = this.context.measureText(text);
            let characters = Math.max(1, Math.ceil((text.length * room) / Math.max(1, width)));
            known = { text, width };
            for (; known.width > room && characters > 1; characters--) {
                const short = cut(text, characters);
                known = { text: short, width: this.context.measureText(short).width };
            }
            if (this.known.size >= MOST_KNOWN) this.known.clear();
            this.known.set(key, known);
        }
        return known;
    }

    private nothing(geometry: Geometry, theme: Theme): void {
        const c = this.context;
        const { lanes } = this.trace.bundle;
        c.fillStyle = theme.dim;
        c.fillText(
            lanes.count === 0 ? "No events to draw." : "All rows are switched off or hidden.",
            NAMES_WIDTH + 24,
            geometry.rowsTop + 32,
        );
    }
}

export function cut(text: string, room: number): string {
    return text.length > room ? `${text.slice(0, Math.max(1, room - 1))}…` : text;
}
