// Mouse, wheel, touch and keys on the timeline.

import type { Session } from "../state/session";
import { actionFor } from "./actions";
import type { Where } from "./commands";
import { flagsAt } from "./flags";
import { NAMES_WIDTH, RULER_HEIGHT, type Geometry } from "./geometry";
import { rowAt, type Row } from "../scene/layout";
import type { Overlay } from "./overlay";
import { fitView, panBy, zoomAbout } from "../scene/view";

type Drag = {
    kind: "pan" | "span" | "zoom" | "measure";
    x: number;
    y: number;
    t: number;
    moved: boolean;
    looked: boolean; // a part of it was noted for Backspace
};

/** A press that moved less is a click. */
const CLICK_PIXELS = 4;
/** How far from a thin bar the mouse may be, in pixels. */
const NEAR = 3;

export class Input {
    private drag: Drag | undefined;
    private lastTime = NaN;
    private hoverTurn = 0;

    constructor(
        private readonly session: Session,
        private readonly geometry: Geometry,
        private readonly overlay: Overlay,
        private readonly canvas: HTMLCanvasElement,
        private readonly redraw: () => void,
    ) {
        canvas.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
        canvas.addEventListener("pointerdown", (e) => this.down(e));
        canvas.addEventListener("pointermove", (e) => this.move(e));
        canvas.addEventListener("pointerup", (e) => this.up(e));
        canvas.addEventListener("pointerleave", () => this.leave());
        canvas.addEventListener("dblclick", () => this.fitSelected());
        canvas.addEventListener("contextmenu", (e) => void this.menu(e));
        window.addEventListener("keydown", (e) => this.key(e));
    }

    private key(event: KeyboardEvent): void {
        const target = event.target as HTMLElement | null;
        const typing =
            (target instanceof HTMLInputElement && target.type !== "checkbox") ||
            target instanceof HTMLSelectElement ||
            target instanceof HTMLTextAreaElement;
        if (typing && event.key !== "Escape") return;
        if (typing) target.blur();
        // A button or a row that has the focus keeps its own keys.
        if (
            target?.closest("button, input, [role=row], [role=menuitem], [role=slider], [role=tab], summary") &&
            (event.key === "Enter" || event.key === " " || event.key.startsWith("Arrow") || event.key === "Home")
        )
            return;
        if (event.altKey) return;
        if (event.key === "Tab") delete this.canvas.dataset.mouse;
        const action = actionFor(event);
        if (!action) return;
        event.preventDefault();
        action.run(this.session, this.where(event));
    }

    /** What a key is about: the moment and the row under the mouse, or the selection, or the middle. */
    private where(event: KeyboardEvent): Where {
        const { t0, t1 } = this.session.view.value;
        const inside = this.overlay.mouseX >= NAMES_WIDTH;
        const at = inside
            ? this.geometry.time(this.overlay.mouseX)
            : (this.session.selected.value?.start ?? (t0 + t1) / 2);
        return {
            shiftKey: event.shiftKey,
            at: at >= t0 && at <= t1 ? at : (t0 + t1) / 2,
            // Over the names of rows the row is meant, over bars the selection.
            row: this.session.rowHover.value?.row ?? null,
            digit: /^Digit[1-9]$/.test(event.code) ? Number(event.code.slice(5)) : 0,
        };
    }

    private async menu(event: MouseEvent): Promise<void> {
        event.preventDefault();
        const { session, geometry } = this;
        const { offsetX, offsetY, clientX, clientY } = event;
        const row = geometry.rowUnder(offsetY) ?? null;
        const bar = row && offsetX >= NAMES_WIDTH ? ((await this.barUnder(row, offsetX, offsetY)) ?? null) : null;
        session.hover.value = null;
        session.rowHover.value = null;
        if (bar && bar.bar !== session.selected.value?.bar) void session.select(bar);
        session.menu.value = { x: clientX, y: clientY, row, bar, at: geometry.time(Math.max(offsetX, NAMES_WIDTH)) };
    }

    private wheel(event: WheelEvent): void {
        event.preventDefault();
        const { session, geometry } = this;
        const { span } = session.trace.bundle;
        const lines = event.deltaMode === 1 ? 20 : 1;
        const [dx, dy] = [event.deltaX * lines, event.deltaY * lines];
        // A pinch comes as a wheel with Ctrl.
        if (event.ctrlKey || event.metaKey) {
            const factor = Math.exp(Math.max(-1, Math.min(1, dy * 0.004)));
            session.look(zoomAbout(session.view.value, geometry.time(event.offsetX), factor, span));
        } else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
            session.look(panBy(session.view.value, (event.shiftKey && dx === 0 ? dy : dx) / geometry.scale, span));
        } else session.scroll.value = geometry.scroll + dy;
    }

    private down(event: PointerEvent): void {
        this.session.menu.value = null;
        if (event.button !== 0) return;
        this.canvas.setPointerCapture(event.pointerId);
        this.canvas.dataset.mouse = ""; // the frame of the focus is for those who go by keys
        this.canvas.focus();
        const onRuler = event.offsetY < RULER_HEIGHT;
        const zooms = event.ctrlKey || event.metaKey || event.altKey;
        const kind = event.shiftKey ? "pan" : zooms ? "zoom" : onRuler ? "measure" : "span";
        this.drag = {
            kind,
            x: event.offsetX,
            y: event.offsetY,
            t: this.geometry.time(event.offsetX),
            moved: false,
            looked: false,
        };
        this.lastTime = event.offsetX;
    }

    private move(event: PointerEvent): void {
        this.overlay.mouseX = event.offsetX;
        const { drag, session, geometry } = this;
        if (!drag) {
            void this.hover(event);
            this.redraw();
            return;
        }
        if (Math.hypot(event.offsetX - drag.x, event.offsetY - drag.y) >= CLICK_PIXELS) drag.moved = true;
        if (!drag.moved) return;
        session.hover.value = null;
        if (drag.kind === "pan") {
            session.look(
                panBy(session.view.value, (this.lastTime - event.offsetX) / geometry.scale, session.trace.bundle.span),
                drag.looked,
            );
            drag.looked = true;
            this.lastTime = event.offsetX;
            return;
        }
        if (drag.x < NAMES_WIDTH) return;
        const t = geometry.time(Math.max(NAMES_WIDTH, event.offsetX));
        const whole = drag.kind !== "span";
        const rowOf = (y: number): number => {
            const { rows } = geometry.layout;
            const row = rowAt(rows, y - geometry.rowsTop + geometry.scroll);
            return row >= 0 ? row : y < geometry.rowsTop ? 0 : rows.length - 1;
        };
        const [a, b] = whole ? [0, geometry.layout.rows.length - 1] : [rowOf(drag.y), rowOf(event.offsetY)];
        session.span.value = {
            t0: Math.min(drag.t, t),
            t1: Math.max(drag.t, t),
            rowFrom: Math.min(a, b),
            rowTo: Math.max(a, b),
            ruler: drag.kind === "measure",
        };
    }

    private up(event: PointerEvent): void {
        const { drag, session } = this;
        this.drag = undefined;
        if (!drag) return;
        if (!drag.moved) {
            void this.click(event);
            return;
        }
        const span = session.span.value;
        if (drag.kind === "zoom" && span) {
            session.look(fitView(span.t0, span.t1, session.trace.bundle.span, 0));
            session.span.value = null;
        } else if (drag.kind === "span" && span) session.panel.value = "details";
    }

    private leave(): void {
        this.overlay.mouseX = -1;
        this.hoverTurn++;
        this.session.hover.value = null;
        this.session.rowHover.value = null;
        this.session.flagHover.value = null;
        this.redraw();
    }

    private async click(event: PointerEvent): Promise<void> {
        const { session, geometry } = this;
        const row = geometry.rowUnder(event.offsetY);
        if (!row) {
            session.span.value = null; // a click on the ruler takes the measure away
            return;
        }
        if (event.offsetX < NAMES_WIDTH) {
            session.rowHover.value = null;
            if (row.open !== null) session.toggleGroup(row.group);
            return;
        }
        session.span.value = null;
        await session.select(this.barUnder(row, event.offsetX, event.offsetY));
    }

    /** The topmost bar: later lanes are drawn over earlier ones, but where they share the row each has its half. */
    private async barUnder(row: Row, x: number, y: number) {
        const { lanes: table } = this.session.trace.bundle;
        const upper = row.halves && y < this.geometry.rowY(row) + row.height / 2;
        const lanes = upper ? [...row.lanes].sort((a, b) => table.sub[b]! - table.sub[a]!) : row.lanes;
        const time = this.geometry.time(x) - this.geometry.shift(row.group);
        const slack = NEAR / this.geometry.scale;
        for (let i = lanes.length - 1; i >= 0; i--) {
            const bar = await this.session.trace.barAt(lanes[i]!, time, slack);
            if (bar) return bar;
        }
        return undefined;
    }

    /** Shows what is under the mouse within a frame where the data are here; else when they have come. */
    private async hover(event: PointerEvent): Promise<void> {
        const turn = ++this.hoverTurn;
        const { offsetX, offsetY, clientX, clientY } = event;
        const row = this.geometry.rowUnder(offsetY);
        const onName = row !== undefined && offsetX < NAMES_WIDTH;
        this.session.rowHover.value = onName ? { row, x: clientX, y: clientY } : null;
        this.canvas.style.cursor = onName && row.open !== null ? "pointer" : offsetY < RULER_HEIGHT ? "ew-resize" : "";
        const flags = row && !onName ? flagsAt(this.session.trace, this.geometry, row, offsetX, offsetY) : [];
        this.session.flagHover.value = flags.length > 0 ? { flags, x: clientX, y: clientY } : null;
        if (!row || onName || flags.length > 0) {
            this.session.hover.value = null;
            return;
        }
        const bar = await this.barUnder(row, offsetX, offsetY);
        if (turn === this.hoverTurn) this.session.hover.value = bar ? { bar, x: clientX, y: clientY } : null;
    }

    private fitSelected(): void {
        const bar = this.session.selected.value;
        if (bar && this.overlay.mouseX >= NAMES_WIDTH) this.session.look(this.session.around(bar));
    }
}
