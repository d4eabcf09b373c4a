// The upper canvas: selection, what the mouse is over, the span, marks, places found, relations.

import { laneOfBar } from "../data/bundle";
import { NONE } from "../data/layout";
import type { Bar, Trace } from "../data/trace";
import type { Session } from "../state/session";
import { NAMES_WIDTH, RULER_HEIGHT, type Geometry } from "./geometry";
import { FONT } from "./margins";
import type { Theme } from "../scene/palette";
import { Relations } from "./relations";
import { duration, longDuration, moment } from "./ruler";
import { SameName } from "./same";
import { drawSteps } from "./steps";

/** Ticks of places found, at most; two on one pixel are one. */
const MOST_TICKS = 20_000;

export class Overlay {
    readonly relations: Relations;
    /** Where the mouse is; -1: outside. */
    mouseX = -1;
    private readonly same: SameName;

    constructor(
        private readonly trace: Trace,
        private readonly context: CanvasRenderingContext2D,
    ) {
        this.relations = new Relations(trace);
        this.same = new SameName(trace);
    }

    paint(session: Session, geometry: Geometry, ratio: number): void {
        const c = this.context;
        const theme = session.theme.value;
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.clearRect(0, 0, geometry.width, geometry.height);
        c.font = FONT;
        c.textBaseline = "middle";
        this.hits(session, geometry);
        this.shownRow(session, geometry);
        c.save();
        c.beginPath();
        c.rect(NAMES_WIDTH, RULER_HEIGHT, geometry.timeWidth, geometry.height);
        c.clip();
        drawSteps(c, session, geometry, theme);
        this.sameName(session, geometry);
        this.span(session, geometry);
        c.save();
        c.beginPath();
        c.rect(NAMES_WIDTH, geometry.rowsTop, geometry.timeWidth, geometry.rowsHeight);
        c.clip();
        if (session.allRelations.value) this.relations.ofAll(c, geometry, theme);
        if (session.related.value) this.relations.ofSelection(c, session.related.value, geometry, theme);
        c.restore();
        // All that was launched together is marked together.
        for (const bar of session.related.value?.launched ?? []) this.outline(bar, geometry, theme.relation, 2);
        const hover = session.hover.value;
        if (hover) this.outline(hover.bar, geometry, theme.hover, 1.5);
        if (session.selected.value) this.outline(session.selected.value, geometry, theme.selection, 2.5);
        c.restore();
        this.operationOnRuler(session, geometry);
        this.marks(session, geometry);
        this.measure(session, geometry);
        this.cursor(session, geometry);
    }

    private outline(bar: Bar, geometry: Geometry, colour: string, width: number): void {
        const c = this.context;
        const pinned = geometry.layout.pinned.filter((row) => row.lanes.includes(bar.lane));
        const row = geometry.rowOf(bar.lane);
        for (const at of row ? [...pinned, row] : pinned) {
            const y = geometry.rowY(at);
            if (!at.pinned && y + at.height < geometry.rowsTop) continue;
            const by = geometry.shift(at.group);
            const a = Math.max(geometry.x(bar.start + by), NAMES_WIDTH - 10);
            const b = Math.min(geometry.x(bar.end + bar.fade + by), geometry.width + 10);
            c.strokeStyle = colour;
            c.lineWidth = width;
            c.beginPath();
            c.roundRect(a - 1, y + 1, Math.max(3, b - a + 2), at.height - 2, 2);
            c.stroke();
        }
    }

    /** The others of the name under the mouse get a thin line; with a name chosen, all others are dimmed. */
    private sameName(session: Session, geometry: Geometry): void {
        const c = this.context;
        const theme = session.theme.value;
        const chosen = session.sameName.value;
        if (chosen) {
            c.fillStyle = theme.background;
            c.globalAlpha = 0.78;
            c.fillRect(NAMES_WIDTH, RULER_HEIGHT, geometry.timeWidth, geometry.height);
            c.globalAlpha = 1;
            this.same.each(chosen, geometry, 0, (x, y, width, height) => c.clearRect(x, y, width, height));
            return;
        }
        const hover = session.hover.value;
        if (!hover) return;
        c.strokeStyle = theme.hover;
        c.lineWidth = 1;
        c.globalAlpha = 0.55;
        this.same.each(this.trace.nameOf(hover.bar), geometry, 4, (x, y, width, height) =>
            c.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1),
        );
        c.globalAlpha = 1;
    }

    private shownRow(session: Session, geometry: Geometry): void {
        const c = this.context;
        const theme = session.theme.value;
        const shown = session.shownRow.value;
        const { layout } = geometry;
        const tint = (y: number, height: number, width: number): void => {
            c.fillStyle = theme.relation;
            c.globalAlpha = 0.12;
            c.fillRect(0, y, width, height);
            c.globalAlpha = 1;
        };
        const row =
            shown &&
            (shown.lane === NONE ? layout.rows[layout.rowOfGroup[shown.group] ?? -1] : geometry.standIn(shown.lane));
        if (row) tint(geometry.rowY(row), row.height, geometry.width);
        const hover = session.rowHover.value?.row;
        if (hover) tint(geometry.rowY(hover), hover.height, NAMES_WIDTH);
    }

    private span(session: Session, geometry: Geometry): void {
        const span = session.span.value;
        if (!span || span.ruler) return;
        const c = this.context;
        const theme = session.theme.value;
        const { rows } = geometry.layout;
        const first = rows[span.rowFrom];
        const last = rows[Math.min(span.rowTo, rows.length - 1)];
        if (!first || !last) return;
        const [a, b] = [geometry.x(span.t0), geometry.x(span.t1)];
        const top = Math.max(geometry.rowsTop, geometry.rowY(first));
        const bottom = Math.min(geometry.height, geometry.rowY(last) + last.height);
        c.fillStyle = theme.relation;
        c.globalAlpha = 0.13;
        c.fillRect(a, top, b - a, bottom - top);
        c.globalAlpha = 1;
        c.strokeStyle = theme.relation;
        c.lineWidth = 1;
        c.strokeRect(a, top, b - a, bottom - top);
        this.pill(duration(span.t1 - span.t0), (a + b) / 2, top + 11, theme, theme.relation);
    }

    /** A time measured on the ruler: two lines through all rows, and how long it is. */
    private measure(session: Session, geometry: Geometry): void {
        const span = session.span.value;
        if (!span?.ruler) return;
        const c = this.context;
        const theme = session.theme.value;
        const a = Math.max(geometry.x(span.t0), NAMES_WIDTH);
        const b = Math.min(geometry.x(span.t1), geometry.width);
        if (b < a) return;
        c.fillStyle = theme.relation;
        c.globalAlpha = 0.08;
        c.fillRect(a, RULER_HEIGHT, b - a, geometry.height);
        c.globalAlpha = 1;
        c.fillRect(a, 2, 1, geometry.height);
        c.fillRect(b, 2, 1, geometry.height);
        c.fillRect(a, RULER_HEIGHT - 4, b - a, 3);
        this.pill(`Δ ${longDuration(span.t1 - span.t0)}`, (a + b) / 2, RULER_HEIGHT / 2 - 1, theme, theme.relation);
    }

    private marks(session: Session, geometry: Geometry): void {
        const c = this.context;
        const theme = session.theme.value;
        for (const mark of session.marks.value) {
            const a = geometry.x(mark.t0);
            const b = geometry.x(mark.t1);
            if (b < NAMES_WIDTH || a > geometry.width) continue;
            const [from, to] = [Math.max(a, NAMES_WIDTH), Math.min(b, geometry.width)];
            c.fillStyle = theme.mark;
            c.globalAlpha = 0.1;
            c.fillRect(from, RULER_HEIGHT, to - from, geometry.height);
            c.globalAlpha = mark.kept ? 1 : 0.6;
            c.fillRect(from, RULER_HEIGHT - 3, Math.max(1, to - from), 3);
            c.setLineDash(mark.kept ? [] : [4, 3]);
            c.strokeStyle = theme.mark;
            c.lineWidth = 1;
            for (const x of a === b ? [a] : [a, b]) {
                if (x < NAMES_WIDTH) continue;
                c.beginPath();
                c.moveTo(x, RULER_HEIGHT - 3);
                c.lineTo(x, geometry.height);
                c.stroke();
            }
            c.setLineDash([]);
            if (a >= NAMES_WIDTH) {
                c.beginPath();
                c.moveTo(a, 3);
                c.lineTo(a + 9, 7);
                c.lineTo(a, 11);
                c.lineTo(a, RULER_HEIGHT);
                c.stroke();
                if (mark.kept) c.fill();
            }
            c.globalAlpha = 1;
            // The selected operation has its own words there.
            if (to - from > 60 && !session.related.value?.parts.length)
                this.pill(duration(mark.t1 - mark.t0), (from + to) / 2, 9, theme, theme.mark);
        }
    }

    /** The parts of the selected operation on the ruler, where they are always seen: wait pale, transfer strong. */
    private operationOnRuler(session: Session, geometry: Geometry): void {
        const related = session.related.value;
        const { ops } = this.trace.bundle;
        if (!related || related.parts.length < 2 || related.bar.op === NONE) return;
        const op = related.bar.op;
        const c = this.context;
        const theme = session.theme.value;
        const by = session.shiftOf(related.bar.lane);
        const at = (time: number): number => Math.min(Math.max(geometry.x(time + by), NAMES_WIDTH), geometry.width);
        const [first, last, end] = [at(ops.first[op]!), at(ops.last[op]!), at(ops.end[op]!)];
        c.fillStyle = theme.sameOp;
        c.globalAlpha = 0.35;
        if (last > first) c.fillRect(first, RULER_HEIGHT - 5, last - first, 4);
        c.globalAlpha = 1;
        if (end > last) c.fillRect(last, RULER_HEIGHT - 5, end - last, 4);
        const words = (text: string, from: number, to: number): void => {
            if (to - from > text.length * 6.5 + 14) this.pill(text, (from + to) / 2, 10, theme, theme.sameOp);
        };
        // What is not known (a rank is absent, the clocks err by more) is not split into the two.
        const wait = ops.longestWait[op]!;
        if (this.trace.knownWait(op, wait) > 0) words(`longest wait ${duration(wait)}`, first, last);
        if (!Number.isNaN(ops.transfer[op]!)) words(`transfer ${duration(ops.transfer[op]!)}`, last, end);
    }

    /** Words on a plate, so that they can be read on anything. */
    private pill(text: string, x: number, y: number, theme: Theme, colour: string): void {
        const c = this.context;
        const width = c.measureText(text).width + 10;
        c.fillStyle = theme.background;
        c.strokeStyle = colour;
        c.lineWidth = 1;
        c.beginPath();
        c.roundRect(x - width / 2, y - 8, width, 16, 4);
        c.fill();
        c.stroke();
        c.fillStyle = theme.text;
        c.textAlign = "center";
        c.fillText(text, x, y + 0.5);
        c.textAlign = "left";
    }

    /** Ticks on the ruler where the search found something. */
    private hits(session: Session, geometry: Geometry): void {
        const c = this.context;
        c.fillStyle = session.theme.value.mark;
        const { times, bars } = session.hits.value;
        const { lanes } = this.trace.bundle;
        const moved = session.shifts.value.some((by) => by !== 0);
        const taken = new Uint8Array(Math.max(1, Math.ceil(geometry.width)));
        for (let i = 0; i < times.length && i < MOST_TICKS; i++) {
            const by = moved ? session.shiftOf(laneOfBar(lanes, bars[i]!)) : 0;
            const x = Math.round(geometry.x(times[i]! + by));
            if (x < NAMES_WIDTH || x >= geometry.width || taken[x]) continue;
            taken[x] = 1;
            c.fillRect(x, RULER_HEIGHT - 9, 1.5, 8);
        }
    }

    private cursor(session: Session, geometry: Geometry): void {
        if (this.mouseX < NAMES_WIDTH) return;
        const c = this.context;
        const theme = session.theme.value;
        c.fillStyle = theme.hover;
        c.globalAlpha = 0.35;
        c.fillRect(Math.round(this.mouseX), RULER_HEIGHT, 1, geometry.height);
        c.globalAlpha = 1;
        if (session.span.value?.ruler) return;
        const text = moment(geometry.time(this.mouseX), Math.max(1, 1 / geometry.scale));
        const half = c.measureText(text).width / 2 + 6;
        const x = Math.min(Math.max(this.mouseX, NAMES_WIDTH + half), geometry.width - half);
        this.pill(text, x, 10, theme, theme.grid);
    }
}
