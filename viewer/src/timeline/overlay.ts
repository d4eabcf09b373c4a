// The upper canvas: selection, what the mouse is over, the span, places found, relations.

import type { Trace } from "../data/trace";
import type { Bar } from "../data/trace";
import type { Session } from "../state/session";
import { NAMES_WIDTH, RULER_HEIGHT, type Geometry } from "./geometry";
import { Relations } from "./relations";
import { duration, moment } from "./ruler";

export class Overlay {
    readonly relations: Relations;
    /** Where the mouse is; -1: outside. */
    mouseX = -1;

    constructor(
        private readonly trace: Trace,
        private readonly context: CanvasRenderingContext2D,
    ) {
        this.relations = new Relations(trace);
    }

    paint(session: Session, geometry: Geometry, ratio: number): void {
        const c = this.context;
        const theme = session.theme.value;
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.clearRect(0, 0, geometry.width, geometry.height);
        c.font = "11px system-ui, sans-serif";
        c.textBaseline = "middle";
        this.hits(session, geometry);
        c.save();
        c.beginPath();
        c.rect(NAMES_WIDTH, RULER_HEIGHT, geometry.timeWidth, geometry.height);
        c.clip();
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
        this.cursor(session, geometry);
    }

    private outline(bar: Bar, geometry: Geometry, colour: string, width: number): void {
        const c = this.context;
        const pinned = geometry.layout.pinned.filter((row) => row.lanes.includes(bar.lane));
        const row = geometry.rowOf(bar.lane);
        for (const at of row ? [...pinned, row] : pinned) {
            const y = geometry.rowY(at);
            if (!at.pinned && y + at.height < geometry.rowsTop) continue;
            const a = Math.max(geometry.x(bar.start), NAMES_WIDTH - 10);
            const b = Math.min(geometry.x(bar.end + bar.fade), geometry.width + 10);
            c.strokeStyle = colour;
            c.lineWidth = width;
            c.strokeRect(a - 1, y + 1, Math.max(3, b - a + 2), at.height - 2);
        }
    }

    private span(session: Session, geometry: Geometry): void {
        const span = session.span.value;
        if (!span) return;
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
        c.fillStyle = theme.text;
        c.fillText(duration(span.t1 - span.t0), (a + b) / 2 - 20, top + 10);
    }

    /** Ticks on the ruler where the search found something; only what is in memory costs nothing to place. */
    private hits(session: Session, geometry: Geometry): void {
        const c = this.context;
        c.fillStyle = session.theme.value.sameOp;
        let lastX = -10;
        for (const hit of session.hits.value.slice(0, 5000)) {
            const bar = this.trace.barNow(hit);
            const x = bar ? geometry.x(bar.start) : -1;
            if (x < NAMES_WIDTH || x > geometry.width || Math.abs(x - lastX) < 2) continue;
            c.fillRect(x, RULER_HEIGHT - 5, 2, 5);
            lastX = x;
        }
    }

    private cursor(session: Session, geometry: Geometry): void {
        if (this.mouseX < NAMES_WIDTH) return;
        const c = this.context;
        const theme = session.theme.value;
        c.fillStyle = theme.hover;
        c.globalAlpha = 0.5;
        c.fillRect(this.mouseX, RULER_HEIGHT, 1, geometry.height);
        c.globalAlpha = 1;
        const text = moment(geometry.time(this.mouseX), 1 / geometry.scale);
        const left = Math.min(this.mouseX + 4, geometry.width - 100);
        c.fillStyle = theme.background;
        c.fillRect(left - 2, 3, 100, RULER_HEIGHT - 10);
        c.fillStyle = theme.text;
        c.fillText(text, left, RULER_HEIGHT / 2 - 1);
    }
}
