// Small bars beside the names of ranks: how late each was, how long it waited, how often it was the last; with a heading
// to sort the rows by.

import { Level, type Figures } from "../data/bundle";
import { FIGURES, hasFigures, type Sort } from "../scene/opening";
import type { Row } from "../scene/layout";
import type { Theme } from "../scene/palette";
import type { Trace } from "../data/trace";
import { NAMES_WIDTH, RULER_HEIGHT, type Geometry } from "./geometry";
import { shortDuration } from "./ruler";

const COLUMN = 47;
const GAP = 5;
const SMALL = "10px system-ui, sans-serif";
const SMALL_BOLD = "600 10px system-ui, sans-serif";
/** Where the columns begin. */
const FROM = NAMES_WIDTH - FIGURES.length * COLUMN - 3;
const HEADING_Y = RULER_HEIGHT - 8;
/** Rows lower than that have bars without numbers. */
const NUMBERS_FROM = 13;

const COLOURS: Record<keyof Figures, (theme: Theme) => string> = {
    late: (theme) => theme.sameOp,
    waited: (theme) => theme.relation,
    last: (theme) => theme.dim,
};

export class FigureColumns {
    /** Whether these data have any. */
    readonly there: boolean;
    private readonly most: number[];

    constructor(
        private readonly trace: Trace,
        private readonly context: CanvasRenderingContext2D,
    ) {
        const { groups } = trace.bundle;
        this.there = hasFigures(trace.bundle);
        this.most = FIGURES.map(({ id }) => {
            let most = 0;
            for (let g = 0; g < groups.count; g++) if (groups.figures[id][g]! > most) most = groups.figures[id][g]!;
            return most;
        });
    }

    /** Pixels of the names' width that a row leaves to its figures. */
    widthFor(row: Row): number {
        return this.has(row) ? NAMES_WIDTH - FROM : 0;
    }

    private has(row: Row): boolean {
        const { level } = this.trace.bundle.groups;
        return this.there && level[row.group] === Level.Rank && row.open !== null && !row.pinned;
    }

    /** "late", "waited", "last" above the columns, the one that rows are sorted by with an arrow. */
    headings(sort: Sort, theme: Theme): void {
        if (!this.there) return;
        const c = this.context;
        const put = (text: string, x: number, chosen: boolean): void => {
            c.font = chosen ? SMALL_BOLD : SMALL;
            c.fillStyle = chosen ? theme.text : theme.dim;
            c.fillText(chosen ? `${text} ▾` : text, x, HEADING_Y);
        };
        put("rank", 8, sort === "rank");
        c.textAlign = "right";
        FIGURES.forEach(({ id }, i) => put(id, FROM + (i + 1) * COLUMN - GAP, sort === id));
        c.textAlign = "left";
    }

    row(row: Row, geometry: Geometry, theme: Theme): void {
        if (!this.has(row)) return;
        const c = this.context;
        const { figures } = this.trace.bundle.groups;
        const y = geometry.rowY(row);
        const high = Math.min(row.height - 4, 15);
        const top = Math.round(y + (row.height - high) / 2);
        c.font = SMALL;
        FIGURES.forEach(({ id }, i) => {
            const value = figures[id][row.group]!;
            const left = FROM + i * COLUMN;
            const wide = COLUMN - GAP;
            c.fillStyle = theme.grid;
            c.globalAlpha = 0.35;
            c.fillRect(left, top, wide, high);
            c.globalAlpha = 1;
            if (Number.isNaN(value)) return;
            // Lateness in red: that is what the others wait for. To be the last by little costs nothing.
            c.fillStyle = COLOURS[id](theme);
            c.globalAlpha = 0.38;
            if (value > 0) c.fillRect(left, top, Math.max(1, (wide * value) / this.most[i]!), high);
            c.globalAlpha = 1;
            if (row.height < NUMBERS_FROM || value === 0) return;
            c.fillStyle = theme.text;
            c.textAlign = "right";
            c.fillText(id === "last" ? String(value) : shortDuration(value), left + wide - 2, y + row.height / 2 + 0.5);
            c.textAlign = "left";
        });
    }

    /** What a press on the heading sorts by; undefined: nothing is there. */
    sortAt(x: number, y: number): Sort | undefined {
        if (!this.there || y < RULER_HEIGHT - 16 || y >= RULER_HEIGHT || x >= NAMES_WIDTH) return undefined;
        return x < FROM ? "rank" : FIGURES[Math.min(FIGURES.length - 1, Math.floor((x - FROM) / COLUMN))]!.id;
    }
}
