// The timeline: two canvases, drawn when something changed and never otherwise.

import { effect } from "@preact/signals";
import type { Session } from "../state/session";
import { Geometry } from "./geometry";
import { Input } from "./input";
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
        session.onReveal = (lane) => this.scrollTo(lane);
        effect(() => {
            // Reading them is what makes this run again.
            void [session.view.value, session.scroll.value, session.layout.value, session.theme.value];
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
            ];
            this.invalidateOverlay();
        });
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

    private scrollTo(lane: number): void {
        this.geometry.update();
        const row = this.geometry.rowOf(lane);
        if (!row) return;
        const { scroll, rowsHeight } = this.geometry;
        if (row.y < scroll || row.y + row.height > scroll + rowsHeight)
            this.session.scroll.value = Math.max(0, row.y - rowsHeight / 3);
    }
}

function canvasIn(host: HTMLElement, name: string): HTMLCanvasElement {
    const canvas = document.createElement("canvas");
    canvas.className = name;
    host.append(canvas);
    return canvas;
}
