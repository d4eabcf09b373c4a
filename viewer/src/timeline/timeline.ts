// The timeline: two canvases, drawn when something changed and never otherwise.

import { effect } from "@preact/signals";
import type { Session } from "../state/session";
import { NONE } from "../data/layout";
import type { Bar } from "../data/trace";
import { Geometry, NAMES_WIDTH, RULER_HEIGHT } from "./geometry";
import { Input } from "./input";
import type { Row } from "../scene/layout";
import { Overlay } from "./overlay";
import { Painter } from "./paint";

/** Milliseconds after which a frame decodes no more blocks: one more takes 3, and 33 are the limit. */
const FRAME_MS = 18;
/** Pixels beyond twice the CSS ones cost time and are not seen. */
const MOST_RATIO = 2;

/** What tests and `make bench` read. */
export interface Times {
    firstPaint: number; // ms since the page began to load
    frames: number[]; // ms that each of the last frames took
}

export class Timeline {
    readonly geometry: Geometry;
    readonly times: Times = { firstPaint: NaN, frames: [] };
    private readonly painter: Painter;
    private readonly overlay: Overlay;
    private readonly upper: HTMLCanvasElement;
    private readonly lower: HTMLCanvasElement;
    private dirty = true;
    private dirtyOverlay = true;
    private scheduled = false;
    private ratio = 1;

    constructor(
        private readonly session: Session,
        private readonly host: HTMLElement,
    ) {
        this.geometry = new Geometry(session);
        this.lower = canvasIn(host, "lower");
        this.upper = canvasIn(host, "upper");
        this.upper.tabIndex = 0;
        this.upper.setAttribute("role", "application");
        this.upper.setAttribute("aria-label", "timeline; press ? for the keys");
        const { trace } = session;
        this.painter = new Painter(trace, this.lower.getContext("2d", { alpha: false })!);
        this.overlay = new Overlay(trace, this.upper.getContext("2d")!);
        const again = (): void => this.invalidate();
        trace.blocks.onArrival = again;
        trace.blocks.onError = (error) => (session.error.value = error.message);
        trace.overview.onArrival = again;
        this.overlay.relations.onArrival = () => this.invalidateOverlay();
        this.resize();
        new ResizeObserver(() => this.resize()).observe(host);
        new Input(session, this.geometry, this.overlay, this.upper, () => this.invalidateOverlay());
        session.onReveal = (lane, group) => this.scrollTo(lane, group);
        session.placeOf = (bar, row) => this.placeOf(bar, row);
        effect(() => {
            // Reading them is what makes this run again.
            void [
                session.view.value,
                session.scroll.value,
                session.layout.value,
                session.theme.value,
                session.shifts.value,
            ];
            this.invalidate();
        });
        effect(() => {
            void [
                session.selected.value,
                session.related.value,
                session.hover.value,
                session.span.value,
                session.hits.value,
                session.allRelations.value,
                session.marks.value,
                session.sameName.value,
                session.rowHover.value,
                session.shownRow.value,
            ];
            session.shareSoon();
            this.invalidateOverlay();
        });
        // What is drawn elsewhere, but is a part of the address.
        effect(() => {
            void [
                session.panel.value,
                session.query.value,
                session.filter.value,
                session.saved.value,
                session.themeChoice.value,
            ];
            session.shareSoon();
        });
    }

    /** Nothing is on its way and nothing waits to be drawn: what is seen stays as it is. */
    get settled(): boolean {
        const { blocks, overview } = this.session.trace;
        return !this.scheduled && !this.dirty && blocks.waiting + overview.waiting === 0;
    }

    invalidate(): void {
        this.dirty = true;
        this.dirtyOverlay = true;
        this.schedule();
    }

    invalidateOverlay(): void {
        this.dirtyOverlay = true;
        this.schedule();
    }

    private schedule(): void {
        if (this.scheduled) return;
        this.scheduled = true;
        requestAnimationFrame(() => {
            this.scheduled = false;
            this.frame();
        });
    }

    private frame(): void {
        const begin = performance.now();
        if (this.geometry.width < 2) return;
        this.geometry.update();
        if (this.dirty) {
            this.dirty = false;
            this.painter.paint(this.geometry, this.session.theme.value, this.ratio);
            this.session.shareSoon();
        }
        if (this.dirtyOverlay) {
            this.dirtyOverlay = false;
            this.overlay.paint(this.session, this.geometry, this.ratio);
        }
        if (Number.isNaN(this.times.firstPaint)) this.times.firstPaint = performance.now();
        const { blocks } = this.session.trace;
        if (blocks.work(begin + FRAME_MS)) this.invalidate();
        else if (blocks.waiting > 0) this.schedule();
        this.times.frames.push(performance.now() - begin);
        if (this.times.frames.length > 2000) this.times.frames.splice(0, 1000);
    }

    private resize(): void {
        const { clientWidth, clientHeight } = this.host;
        this.ratio = Math.min(MOST_RATIO, window.devicePixelRatio || 1);
        this.geometry.width = clientWidth;
        this.geometry.height = clientHeight;
        for (const canvas of [this.lower, this.upper]) {
            canvas.width = Math.max(1, Math.round(clientWidth * this.ratio));
            canvas.height = Math.max(1, Math.round(clientHeight * this.ratio));
        }
        this.invalidate();
    }

    private scrollTo(lane: number, group: number): void {
        this.geometry.update();
        const { layout, scroll, rowsHeight } = this.geometry;
        const row = lane === NONE ? layout.rows[layout.rowOfGroup[group] ?? -1] : this.geometry.standIn(lane);
        if (!row) return;
        if (row.y < scroll || row.y + row.height > scroll + rowsHeight)
            this.session.scroll.value = Math.max(0, row.y - rowsHeight / 3);
    }

    /** Where a menu opens that no mouse asked for, in CSS pixels of the window. */
    private placeOf(bar: Bar | null, row: Row | null): { x: number; y: number } {
        const box = this.upper.getBoundingClientRect();
        const at = row ?? (bar ? this.geometry.standIn(bar.lane) : undefined);
        const x = bar && !row ? this.geometry.x(bar.start + this.session.shiftOf(bar.lane)) : NAMES_WIDTH / 2;
        return {
            x: box.x + Math.min(Math.max(x, 20), box.width - 20),
            y: box.y + Math.min(at ? this.geometry.rowY(at) + at.height : RULER_HEIGHT, box.height - 20),
        };
    }
}

function canvasIn(host: HTMLElement, name: string): HTMLCanvasElement {
    const canvas = document.createElement("canvas");
    canvas.className = name;
    host.append(canvas);
    return canvas;
}
